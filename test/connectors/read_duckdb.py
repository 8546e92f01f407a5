"""Prints the tables of the dlt connector as JSON: {"assets": {id: row}, "computers": {id: row}}."""

import datetime, json, sys

import duckdb


def plain(value, kind):
    if isinstance(value, datetime.datetime):
        utc = value.astimezone(datetime.timezone.utc)
        return utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"
    return json.loads(value) if kind == "JSON" and value is not None else value


def rows(connection, table):
    found = connection.sql(f"SELECT * FROM inventory.{table}")
    kinds = [str(kind) for kind in found.types]
    for row in found.fetchall():
        yield {name: plain(value, kind) for name, value, kind in zip(found.columns, row, kinds)}


with duckdb.connect(sys.argv[1], read_only=True) as connection:
    print(json.dumps({table: {row["id"]: row for row in rows(connection, table)} for table in ["assets", "computers"]}))
