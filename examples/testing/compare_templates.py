"""Two templates of one stack are equal, whatever release of CDK wrote the hashes in them."""

from gpu_constructs.testing import normalize

before = {"Resources": {"Code": {"Properties": {"Key": "0123456789abcdef" * 4 + ".zip", "Runtime": "nodejs22.x"}}}}
after = {"Resources": {"Code": {"Properties": {"Key": "fedcba9876543210" * 4 + ".zip", "Runtime": "nodejs24.x"}}}}

print(normalize(before) == normalize(after))  # True
print(normalize(after)["Resources"]["Code"]["Properties"])  # {'Key': '<asset>.zip', 'Runtime': '<nodejs>'}
