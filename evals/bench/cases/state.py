"""State: diff, hash, snapshot, restore, reset; each read by the trusted side from the files."""

from agent_world.errors import SandboxError
from agent_world.evals.bench.cases.calls import unchanged
from agent_world.evals.bench.lab import Lab, must, same
from agent_world.evals.bench.registry import case


@case("behaviour", "a fresh instance has no changes")
async def fresh(lab: Lab) -> None:
    one, other = await lab.open(), await lab.open()
    await unchanged(one)
    same(await one.state_hash(), await other.state_hash(), "state hash of two fresh instances")


@case("behaviour", "a write shows in the diff by row and field")
async def write(lab: Lab) -> None:
    instance = await lab.open()
    await instance.call("set_count", {"item_id": "I3", "count": 99})
    changes = (await instance.diff()).changes
    found = [(c.table, c.key, c.kind, c.before, c.after) for c in changes]
    same(found, [("items", "I3", "changed", {"count": 3}, {"count": 99})], "changes")


@case("behaviour", "a row of SQLite keeps its types")
async def sqlite_types(lab: Lab) -> None:
    instance = await lab.open()
    await instance.call("add_sale", {"item_id": "I1", "postcode": "02139"})
    found = [(c.table, c.key, c.kind, c.after) for c in (await instance.diff()).changes]
    row = {"sale_id": 2, "item_id": "I1", "postcode": "02139"}
    same(found, [("sales", "2", "added", row)], "changes")


@case("behaviour", "the bundle and a sibling do not see a write")
async def private(lab: Lab) -> None:
    root = lab.own_world()
    kept = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    instance, sibling = await lab.open(root), await lab.open(root)
    await instance.call("set_count", {"item_id": "I1", "count": 42})
    await instance.call("execute", {"body": "open('new.txt', 'w').write('x')"})
    same((await sibling.call("get_item", {"item_id": "I1"})).value["count"], 1, "count in the sibling")
    await unchanged(sibling)
    now = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    must(now == kept, "the bundle itself was written.")
    same(
        (await (await lab.open(root)).call("get_item", {"item_id": "I1"})).value["count"], 1, "count in a new instance"
    )


@case("behaviour", "the same content has the same hash, other content another")
async def hashes(lab: Lab) -> None:
    one, other = await lab.open(), await lab.open()
    start = await one.state_hash()
    for instance in (one, other):
        await instance.call("set_count", {"item_id": "I1", "count": 5})
    must(await one.state_hash() != start, "a write left the state hash as it was.")
    same(await one.state_hash(), await other.state_hash(), "state hash after the same write")
    await one.call("set_count", {"item_id": "I1", "count": 1})
    same(await one.state_hash(), start, "state hash after the write was undone")


@case("behaviour", "a new, a changed and a missing file are seen")
async def files(lab: Lab) -> None:
    instance = await lab.open()
    body = "os.mkdir('sub')\nopen('sub/a.txt', 'w').write('hello')\nopen('b.bin', 'wb').write(b'\\xff\\0')"
    await instance.call("execute", {"body": f"{body}\nos.remove('items.json')"})
    changes = (await instance.diff()).changes
    removed = {c.key for c in changes if c.kind == "removed"}
    must(removed == {f"I{n}" for n in range(1, 6)}, f"rows of the removed file are not all gone: {removed}.")
    added = " ".join(f"{c.table} {c.key}" for c in changes if c.kind == "added")
    must("sub/a.txt" in added and "b.bin" in added, f"new files are not all seen: {added}.")


@case("behaviour", "reset goes back to the bundle and to a fresh process")
async def reset(lab: Lab) -> None:
    instance = await lab.open()
    start = await instance.state_hash()
    await instance.call("set_count", {"item_id": "I1", "count": 5})
    await instance.call("execute", {"body": "open('extra.txt', 'w').write('x')\nos.chmod('items.json', 0o400)"})
    same((await instance.call("remember", {})).value, {"calls": 1}, "calls remembered at first")
    same((await instance.call("remember", {})).value, {"calls": 2}, "calls remembered then")
    await instance.reset()
    same(await instance.state_hash(), start, "state hash after reset")
    await unchanged(instance)
    same((await instance.call("remember", {})).value, {"calls": 1}, "calls remembered after reset")
    written = await instance.call("set_count", {"item_id": "I1", "count": 6})
    must(written.ok, f"after reset the database cannot be written: {written.text}")


@case("behaviour", "restore brings back a snapshot, here and in a sibling")
async def restore(lab: Lab) -> None:
    instance, sibling = await lab.open(), await lab.open()
    await instance.call("set_count", {"item_id": "I1", "count": 5})
    await instance.call("add_sale", {"item_id": "I2", "postcode": "02140"})
    middle, kept = await instance.state_hash(), await instance.snapshot()
    await instance.call("set_count", {"item_id": "I1", "count": 6})
    await instance.call("execute", {"body": "open('extra.txt', 'w').write('x')"})
    for one in (instance, sibling):
        await one.restore(kept)
        same(await one.state_hash(), middle, "state hash after restore")
        same((await one.call("get_item", {"item_id": "I1"})).value["count"], 5, "count after restore")


_LAID_OUT = """
found = []
for folder, folders, names in os.walk('.'):
    found += [[p, oct(os.lstat(p).st_mode)] for p in (os.path.join(folder, n) for n in folders + names)]
return sorted(found)
"""


@case("behaviour", "restore brings back new folders and permissions, reset takes them away")
async def layout(lab: Lab) -> None:
    instance, sibling = await lab.open(), await lab.open()
    at_first = (await instance.call("execute", {"body": _LAID_OUT})).value
    body = """
os.makedirs('new/empty/inner')
os.mkdir('new/shut', 0o700)
for path, mode in (('new/shut/held.txt', 0o600), ('run.sh', 0o755)):
    os.write(os.open(path, os.O_CREAT | os.O_WRONLY, mode), b'x')
"""
    made = await instance.call("execute", {"body": body})
    must(made.ok, f"folders and permissions cannot be made: {made.text}")
    laid_out = (await instance.call("execute", {"body": _LAID_OUT})).value
    kept = await instance.snapshot()
    await instance.reset()
    same((await instance.call("execute", {"body": _LAID_OUT})).value, at_first, "folders and permissions after reset")
    for one in (instance, sibling):
        await one.restore(kept)
        same((await one.call("execute", {"body": _LAID_OUT})).value, laid_out, "folders and permissions after restore")
        must(await one.snapshot() == kept, "a snapshot of what was restored is another.")


@case("behaviour", "the same state has the same snapshot")
async def same_snapshot(lab: Lab) -> None:
    one, other = await lab.open(), await lab.open()
    must(await one.snapshot() == await other.snapshot(), "two fresh instances give different snapshots.")


@case("behaviour", "what is no snapshot is refused, and the instance goes on")
async def no_snapshot(lab: Lab) -> None:
    instance = await lab.open()
    good = await instance.snapshot()
    for bad in (b"", b"not a snapshot", good[: len(good) // 2]):
        try:
            await instance.restore(bad)
        except SandboxError:
            continue
        must(False, f"restore took {bad[:20]!r}… for a snapshot.")
    await lab.answers(instance, "an instance that refused a snapshot")
    await unchanged(instance)


@case("behaviour", "a link is in the diff, and no snapshot is made of it", "tool_code")
async def link(lab: Lab) -> None:
    instance = await lab.open()
    await instance.call("execute", {"body": "os.symlink('/etc/passwd', 'link')"})
    changes = (await instance.diff()).changes
    must("link" in [c.key for c in changes], f"the link is not in the diff: {changes}.")
    must(all("root:" not in str(c.after) for c in changes), "the link was followed.")
    try:
        await instance.snapshot()
    except SandboxError as error:
        must("link" in str(error), f"the refusal does not name the link: {error}")
        return
    must(False, "a snapshot was made of a link.")


@case("behaviour", "what a killed tool had written is kept")
async def kept_after_kill(lab: Lab) -> None:
    instance = await lab.open()
    await instance.call("execute", {"body": "open('kept.txt', 'w').write('x')\nwhile True: pass"})
    must("kept.txt" in str((await instance.diff()).changes), "the file of a killed tool is gone.")
    await lab.answers(instance, "an instance after a kill")
    must("kept.txt" in str((await instance.diff()).changes), "the file of a killed tool is gone after the next call.")
