"""Where CDK tokens become `UNKNOWN`, so that the rules never meet one."""

from __future__ import annotations

from typing import TypeVar

from aws_cdk import Stack, Token
from constructs import Construct

from gpu_constructs.checks import UNKNOWN, Unknown

T = TypeVar("T")

# How CDK writes a token as text, and as a number: one below all that a user could mean.
# https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
_TEXT = "${Token["
_NUMBERS_BELOW = -1e280


def known(value: T) -> T | Unknown:
    """Return the value, or `UNKNOWN` if it is a token.

    Comparing a token is never right: a number token is a huge negative number, a string token equals nothing.
    """
    return UNKNOWN if is_token(value) else value


def region_of(scope: Construct) -> str | Unknown:
    """Return the Region of the stack of a construct, or `UNKNOWN` if only the deployment says it."""
    return known(Stack.of(scope).region)


def is_token(value: object) -> bool:
    """Return whether a value is a token; of text and numbers without asking CDK, which takes longer than a rule."""
    if value is None:
        return False
    if isinstance(value, str):
        return _TEXT in value
    if isinstance(value, (int, float)):
        return value < _NUMBERS_BELOW
    return Token.is_unresolved(value)
