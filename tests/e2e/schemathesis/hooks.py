"""What the public judge of OpenAPI documents has to be told about Sluice."""

import itertools
import json
import re

import schemathesis

# Reasons that no schema can tell: they depend on the time of day, on a config, on several fields together.
BEYOND_THE_SCHEMA = {
    "time_out_of_range",
    "weight_above_cap",
    "range_too_large",
    "invalid_duration",
    "invalid_tokens",
    "invalid_plan",
    "different_body",
}

# Names are bounded in bytes, which a schema can only count in characters.
NAMES = {
    "invalid_event_id": 255,
    "invalid_config_name": 128,
    "invalid_pool": 128,
    "invalid_key": 256,
}


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


# An event that is known is answered with its slot, whatever values its body has: what is to be refused must be
# about an event that nobody knows.
numbers = itertools.count()
plain_id = re.compile(r"^[A-Za-z0-9-]{1,200}$")


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if case.operation.path in ("/api/v1/slots", "/api/v1/slots/quote") and isinstance(body, dict):
        event_id = body.get("eventId")
        negative = case.meta is not None and case.meta.generation.mode.is_negative
        if negative and isinstance(event_id, str) and plain_id.match(event_id):
            body["eventId"] = f"{event_id}-{next(numbers)}"


def texts(value):
    """All texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts(member)


def has_longer_text(case, most):
    parts = [case.body, dict(case.path_parameters or {}), dict(case.query or {})]
    return any(len(text.encode("utf-8", "surrogatepass")) > most for text in texts(parts))


def is_beyond_the_schema(case, code):
    if code in BEYOND_THE_SCHEMA:
        return True
    if code in NAMES and has_longer_text(case, NAMES[code]):
        return True
    if code == "invalid_plans" and case.operation.path == "/api/v1/release":
        return True  # The plan gives no leases.
    if code == "invalid_spread":
        # How many cells a window has room for depends on its size.
        return isinstance(case.body, dict) and case.body.get("spread") == "stratified"
    # The key of an authorization stands in a header whose name is a parameter.
    return code == "invalid_key" and case.operation.path == "/api/v1/authz" and "key" not in (case.query or {})


@schemathesis.check
def valid_data_is_refused_for_a_reason(ctx, response, case):
    """What the document allows is refused only for what it cannot say."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    code = json.loads(response.content)["code"]
    assert is_beyond_the_schema(case, code), f"valid data was refused as {code}: {response.text}"
