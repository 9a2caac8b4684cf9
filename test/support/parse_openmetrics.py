"""Reads JSON texts from stdin by prometheus_client's own OpenMetrics parser and prints what it found: an independent opinion."""
import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families


def read(text):
    families = list(text_string_to_metric_families(text))
    return {
        "families": [[f.name, f.type, f.unit, f.documentation] for f in families],
        "samples": [
            [s.name, s.labels, repr(s.value), s.exemplar and [s.exemplar.labels, s.exemplar.value, float(s.exemplar.timestamp)]]
            for f in families
            for s in f.samples
        ],
    }


def attempt(text):
    try:
        return read(text)
    except ValueError as error:
        return {"error": str(error)}


json.dump([attempt(text) for text in json.load(sys.stdin)], sys.stdout)
