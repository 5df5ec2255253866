"""Holds TOML files against a JSON schema: validate_toml.py SCHEMA LIST

A line of LIST is `right FILE`, `sizes FILE` (a case of tests/oracles, whose family and [config] are
those of [model]; that a case trains is no size) or `wrong FILE`. Prints each file that the schema judges otherwise, and fails where
there is one, or where the schema itself is none of draft 2020-12.
"""
import json
import sys
import tomllib

import jsonschema


def document_of(kind, path):
    with open(path, "rb") as file:
        document = tomllib.load(file)
    if kind == "sizes":
        sizes = {key: size for key, size in document["config"].items() if key != "training"}
        return {"model": {"family": document["family"], "config": sizes}}
    return document


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    problems = 0
    with open(sys.argv[2], encoding="utf-8") as lines:
        for line in lines:
            kind, path = line.rstrip("\n").split(" ", 1)
            error = jsonschema.exceptions.best_match(validator.iter_errors(document_of(kind, path)))
            if (error is None) == (kind != "wrong"):
                continue
            problems += 1
            print(f"{path} is {kind}; the schema says {error.message if error else 'it is right'}")
    sys.exit(1 if problems else 0)


main()
