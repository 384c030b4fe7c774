"""An instance metadata service on loopback, for tests and drills: it answers like EC2's, and fails as a script says.

    from gpu_constructs.local.imds import FakeImds, InstanceFacts

    script = [{"at": 0, "do": "status", "code": 503, "for": 2}, {"at": 3, "do": "notice", "in": 120}]
    with FakeImds(InstanceFacts(instance_type="p5.48xlarge", life_cycle="spot"), script) as imds:
        os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = imds.endpoint

What it answers and what a script may say: docs/local_aws.md.
"""

from __future__ import annotations

from gpu_constructs.local.imds.facts import InstanceFacts, Interface
from gpu_constructs.local.imds.fake import FakeImds
from gpu_constructs.local.imds.log import Request

__all__ = ["FakeImds", "InstanceFacts", "Interface", "Request"]
