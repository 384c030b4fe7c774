from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Aws, SecretValue, Token
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.tokens import is_token, known

TOKENS = [
    Aws.REGION,
    f"{Aws.STACK_NAME}-suffix",
    Token.as_string({"Ref": "Parameter"}),
    Token.as_number({"Ref": "Parameter"}),
    SecretValue.unsafe_plain_text("x"),
    Token.as_list({"Ref": "Parameter"}),
]


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: type(token).__name__)
def test_every_form_of_a_token_is_one(token: Any) -> None:
    assert Token.is_unresolved(token)
    assert is_token(token)
    assert known(token) is UNKNOWN


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False, min_value=-1e279),
        st.booleans(),
    )
)
def test_plain_values_are_what_cdk_says_they_are(value: object) -> None:
    assert is_token(value) == (value is not None and Token.is_unresolved(value))
