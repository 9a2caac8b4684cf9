"""OTLP by the generated code of opentelemetry-proto: spans from JSON on stdin to a request, or an answer on stdin to JSON."""
import json
import sys

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def value(into, given):
    if isinstance(given, bool):
        into.bool_value = given
    elif isinstance(given, int):
        into.int_value = given
    elif isinstance(given, float):
        into.double_value = given
    elif isinstance(given, str):
        into.string_value = given
    elif isinstance(given, list):
        into.array_value.SetInParent()
        for each in given:
            value(into.array_value.values.add(), each)
    elif isinstance(given, dict):
        into.kvlist_value.SetInParent()
        attributes(into.kvlist_value.values, given)


def attributes(into, given):
    for key, each in given.items():
        pair = into.add()
        pair.key = key
        value(pair.value, each)


def traces(given):
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    attributes(group.resource.attributes, given["resource"])
    scope = group.scope_spans.add()
    scope.scope.name = "mcp-python-sdk"
    for n, each in enumerate(given["spans"]):
        span = scope.spans.add()
        span.trace_id = bytes.fromhex(given["traceId"])
        span.span_id = (n + 1).to_bytes(8, "big")
        span.parent_span_id = bytes(7) + b"\x09"
        span.name = each["name"]
        span.kind = 3
        span.flags = 257
        span.start_time_unix_nano = each["start"] * 1000000
        span.end_time_unix_nano = each["end"] * 1000000
        attributes(span.attributes, each["attributes"])
        if each.get("status"):
            span.status.code = each["status"]
            span.status.message = each.get("message") or ""
        if each.get("exception"):
            event = span.events.add()
            event.name = "exception"
            attributes(event.attributes, {"exception.type": each["exception"], "exception.message": "SECRET"})
    return request


def logs(given):
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for each in given["bodies"]:
        value(scope.log_records.add().body, each)
    return request


mode = sys.argv[1]
if mode == "answer":
    response = ExportTraceServiceResponse.FromString(sys.stdin.buffer.read())
    partial = response.partial_success
    print(json.dumps([partial.rejected_spans, partial.error_message]))
else:
    given = json.load(sys.stdin)
    request = traces(given) if mode == "traces" else logs(given)
    sys.stdout.buffer.write(request.SerializeToString())
