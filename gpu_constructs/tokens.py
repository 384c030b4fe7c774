"""Where CDK tokens become `UNKNOWN`, so that the rules never meet one."""

from __future__ import annotations

from typing import TypeVar

from aws_cdk import Token

from gpu_constructs.checks import UNKNOWN, Unknown

T = TypeVar("T")


def known(value: T) -> T | Unknown:
    """Return the value, or `UNKNOWN` if it is a token.

    Comparing a token is never right: a number token is a huge negative number, a string token equals nothing.
    """
    return UNKNOWN if Token.is_unresolved(value) else value
