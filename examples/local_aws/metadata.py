"""A metadata service that fails once, then announces that a spot instance is taken."""

from gpu_constructs.local.imds import FakeImds, InstanceFacts
from gpu_constructs.on_node.imds import Imds

SCRIPT = [
    {"at": 0, "do": "status", "code": 503},  # the first request fails, and is tried again
    {"at": 0, "do": "notice", "in": 120},
]

with FakeImds(InstanceFacts(instance_type="p5.48xlarge", life_cycle="spot"), SCRIPT) as fake:
    imds = Imds(fake.endpoint)  # boto3 finds it by AWS_EC2_METADATA_SERVICE_ENDPOINT
    print(imds.identity().instance_type)  # p5.48xlarge
    print('"action": "terminate"' in (imds.get("meta-data/spot/instance-action") or ""))  # True

    fake.set_lifecycle_state("Terminated")
    print(imds.target_lifecycle_state())  # Terminated
    print([request.status for request in fake.requests][:3])  # [503, 200, 200]
    imds.close()
