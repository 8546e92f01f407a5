"""Schemathesis loads this file: SCHEMATHESIS_HOOKS names it."""

import uuid

import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each valid write a key of its own: a key belongs to one request, and its second use would be a 409."""
    headers = case.headers or {}
    header = case.meta.components.get(ParameterLocation.HEADER) if case.meta else None
    if "Idempotency-Key" in headers and not (header and header.mode == GenerationMode.NEGATIVE):
        headers["Idempotency-Key"] = str(uuid.uuid4())
