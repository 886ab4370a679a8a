"""YAML and JSON as this package writes them."""

from __future__ import annotations

import json
import math
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True  # two equal lists are written twice

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # Only between double quotes does every kind of line break come back.
        style = None if data.splitlines() == [data] else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def yaml_text(content: dict[str, Any]) -> str:
    """Content as YAML, keys in their order, innermost lists on one line, every digit kept."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


def null_for_nan(content: Any) -> Any:
    """The same content with null for every number that is not finite, as JSON knows no NaN."""
    if isinstance(content, dict):
        return {key: null_for_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [null_for_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def json_text(content: dict[str, Any]) -> str:
    """Content as JSON, keys in their order, every digit kept."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
