"""What the public judge of OpenAPI documents has to be told about Sluice."""

import itertools
import json
import re
import unicodedata
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import schemathesis

try:
    from schemathesis.engine import observations
except ImportError:
    observations = None

# It looks for links in answers, and some versions end at a text that begins like a URL and is none.
if hasattr(observations, "_same_origin_path"):
    path_of = observations._same_origin_path

    def path_or_none(value, origin):
        try:
            return path_of(value, origin)
        except ValueError:
            return None

    observations._same_origin_path = path_or_none

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


def make_unknown(event):
    event_id = event.get("eventId") if isinstance(event, dict) else None
    if isinstance(event_id, str) and plain_id.match(event_id):
        event["eventId"] = f"{event_id}-{next(numbers)}"


# What is well written but out of range is told first, and would hide what is wrong.
def bring_into_range(event):
    if not isinstance(event, dict):
        return
    if isinstance(event.get("requestedTime"), str) and is_far_time(event["requestedTime"]):
        event["requestedTime"] = "2030-01-01T09:00:00Z"
    if isinstance(event.get("maxDelay"), str) and is_wrong_duration(event["maxDelay"]):
        event["maxDelay"] = "PT1H"


def is_negative(case):
    return case.meta is not None and case.meta.generation.mode.is_negative


@schemathesis.hook
def before_call(context, case, kwargs):
    if not is_negative(case) or not isinstance(case.body, dict):
        return
    if case.operation.path in ("/api/v1/slots", "/api/v1/slots/quote"):
        make_unknown(case.body)
    elif case.operation.path == "/api/v1/slots/batch" and isinstance(case.body.get("events"), list):
        for event in case.body["events"]:
            make_unknown(event)
            bring_into_range(event)


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


duration = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$")


def is_wrong_duration(text):
    """A duration that is well written, but not positive, not in whole milliseconds, or above 31 days."""
    found = duration.match(text)
    if not found:
        return False
    days, hours, minutes, seconds = (Decimal(part or 0) for part in found.groups())
    milliseconds = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
    return milliseconds != int(milliseconds) or not 0 < milliseconds <= 31 * 24 * 3_600_000


def is_far_time(text):
    """A time that is well written, but before 1970 or more than ten years ahead (a day is spared at either end)."""
    if not re.match(r"^\d{4}-\d\d-\d\d[Tt]", text):
        return False
    now = datetime.now(timezone.utc)
    try:
        time = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text.upper()))
    except (ValueError, OverflowError):
        return text.startswith("0000")  # A year that Python does not have.
    return not datetime(1970, 1, 2, tzinfo=timezone.utc) <= time <= now + timedelta(days=3_651)


def fields(value, name):
    """All values of fields of this name, however deep."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name:
                yield member
            yield from fields(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from fields(member, name)


def is_no_gate(gate):
    """Whether a text that may be a gate by its length is none: what may follow depends on how it begins."""
    if gate.startswith("host:"):
        return re.fullmatch(r"[A-Za-z0-9._:\[\]-]{1,255}", gate[5:]) is None
    name = gate.removeprefix("pool:")
    return not 1 <= len(name.encode(errors="replace")) <= 128 or any(unicodedata.category(c) == "Cc" for c in name)


def is_beyond_the_schema(case, code):
    """Whether this is a reason that no schema can tell: the time of day, a config, several fields together."""
    body = case.body if isinstance(case.body, dict) else {}
    said = list(texts([body, dict(case.query or {})]))
    if code in NAMES and has_longer_text(case, NAMES[code]):
        return True
    if code == "time_out_of_range":
        return any(is_far_time(text) for text in said)
    if code == "invalid_duration":
        return any(is_wrong_duration(text) for text in said) or {"windowSize", "windowSizeSecs"} <= set(body)
    if code in ("weight_above_cap", "invalid_tokens"):
        return any(number > 1 for name in ("weight", "tokens") for number in fields(body, name))
    if code == "range_too_large":
        return case.operation.path == "/api/v1/windows"
    if code == "invalid_plan":
        return case.operation.path.startswith(("/admin/plans/", "/admin/keys/"))  # Fields that do not go together.
    if code == "invalid_plans" and case.operation.path == "/api/v1/release":
        return True  # The plan gives no leases.
    if code in ("invalid_target", "credentials_in_url", "forbidden_address", "target_not_configured"):
        # What a URL may name, which carriers there are, and that a payload wants a target.
        return any(field in str(body) for field in ("target", "payload", "expiresAfter"))
    if code == "invalid_gate":
        return is_no_gate(str(body.get("gate", "")))
    if code == "invalid_rate_holds":
        return "maxPerSecond" not in body
    if code == "invalid_spread":
        # How many cells a window has room for depends on its size.
        return body.get("spread") == "stratified"
    # The key of an authorization stands in a header whose name is a parameter.
    return code == "invalid_key" and case.operation.path == "/api/v1/authz" and "key" not in (case.query or {})


# What a member of a batch may be refused for although it is as the document wants it.
OF_THE_STATE = {"cancelled", "config_not_found", "contended", "exhausted", "weight_above_cap"}


@schemathesis.check
def a_wrong_member_of_a_batch_is_refused(ctx, response, case):
    """A batch whose body the document forbids has a member that is told so, if it is not refused as a whole."""
    if is_negative(case) and case.operation.path.endswith("/batch") and response.status_code == 200:
        results = json.loads(response.content)["results"]
        codes = {result["error"]["code"] for result in results if "error" in result}
        assert codes - OF_THE_STATE, f"nothing wrong was found: {response.text}"


def may_be_refused_by_the_gateway(case):
    """It has one text for every fault: a blank message, bytes, control characters, a duration, names that differ."""
    body = case.body if isinstance(case.body, dict) else {}
    names = [body[field] for field in ("requestId", "to", "from") if field in body]
    key = dict(case.headers or {}).get("Idempotency-Key")
    message = str(body.get("message", "x"))
    return (
        all(character <= " " for character in message)
        or len(message.encode("utf-8", "surrogatepass")) > 10 * 1024
        or "validity" in body
        or key is not None
        or any(len(name.encode("utf-8", "surrogatepass")) > 255 or not name.isprintable() for name in names)
    )


@schemathesis.check
def valid_data_is_refused_for_a_reason(ctx, response, case):
    """What the document allows is refused only for what it cannot say."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    if case.operation.path.startswith(("/api/send", "/api/config")):
        assert may_be_refused_by_the_gateway(case), "valid data was refused by the gateway"
        return
    code = json.loads(response.content)["code"]
    assert is_beyond_the_schema(case, code), f"valid data was refused as {code}: {response.text}"
