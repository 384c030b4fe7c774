"""What tests of your own stacks import: templates made comparable, and what must hold in each of them.

    template = normalize(Template.from_stack(stack))
    assert_efa_valid(template)

Nothing here imports aws_cdk; templates are taken as `aws_cdk.assertions.Template` or as dictionaries. pytest is needed
by the plugin alone, which pytest finds by itself.
"""

from gpu_constructs.testing.invariants import (
    assert_capacity_valid,
    assert_efa_valid,
    assert_encrypted_volumes,
    assert_imdsv2,
    assert_no_public_address,
    assert_retained,
)
from gpu_constructs.testing.normalize import AnyTemplate, normalize

__all__ = [
    "AnyTemplate",
    "assert_capacity_valid",
    "assert_efa_valid",
    "assert_encrypted_volumes",
    "assert_imdsv2",
    "assert_no_public_address",
    "assert_retained",
    "normalize",
]
