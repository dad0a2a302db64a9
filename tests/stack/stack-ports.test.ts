import { expect, test } from "bun:test";
import { freePorts, promise } from "@parley/dev/processes/ports.ts";

// Out of 17,000 ports, enough that two independent processes would pick some of the same.
const MANY = 500;

test("ports found by one process are given to no other until it ends, even if nothing listens on them", async () => {
  const program = `
    import { freePorts } from ${JSON.stringify(import.meta.resolve("@parley/dev/processes/ports.ts"))};
    process.on("disconnect", process.exit);
    process.send(await freePorts(${MANY}));`;
  const given = Promise.withResolvers<number[]>();
  const other = Bun.spawn([process.execPath, "-e", program], { ipc: given.resolve });
  const theirs = await given.promise;
  const ours = await freePorts(MANY);
  expect(new Set([...theirs, ...ours]).size).toBe(2 * MANY);
  const [port = 0] = theirs;
  expect(await promise(port)).toBeFalse();
  other.kill();
  await other.exited;
  expect(await promise(port)).toBeTrue();
});
