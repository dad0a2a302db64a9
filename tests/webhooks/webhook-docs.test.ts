import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/testkit/eventually";
import { testProgramWords } from "@parley/testkit/programs/binaries";
import { sharedStack } from "../kit/stack/shared-stack.ts";

const ROOT = join(import.meta.dir, "../..");

const children: Bun.Subprocess[] = [];
const stack = await sharedStack();
const page = await Bun.file(join(ROOT, "docs/webhooks.md")).text();
const folder = await mkdtemp(join(tmpdir(), "parley-webhook-docs-"));
// As after installing the package that the page names.
await symlink(join(ROOT, "tests/node_modules"), join(folder, "node_modules"));
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

/** The page's only block of a language, as a reader saves it. */
async function save(language: string, name: string): Promise<string> {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block]) => block);
  expect(blocks).toHaveLength(1);
  await Bun.write(join(folder, name), blocks[0] ?? "");
  return join(folder, name);
}

/** Runs one of the page's commands against the stack. @returns its output with --json */
async function parley(...args: string[]) {
  const command = Bun.spawn([...testProgramWords("parley", join(ROOT, "cli/src/main.ts")), ...args, "--json"], {
    env: { PARLEY_HOME: stack.home.path, PARLEY_OWNER_ID: stack.owners[0].ownerId },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await command.stdout.text());
}

function createDestination(url: string): Promise<{ destination_id: string; secret: string }> {
  return parley("webhook", "create", "--name", "Local", "--url", url, "--request-type", "POST");
}

function start(command: string[], env: Record<string, string>): { output(): string } {
  let output = "";
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  (async () => {
    for await (const bytes of child.stdout) output += new TextDecoder().decode(bytes);
  })();
  return { output: () => output };
}

describe.each([
  ["TypeScript", "ts", "receiver.ts", [process.execPath]],
  ["Python", "python", "receiver.py", ["python3"]],
])("the receiver in %s", (_, language, name, program) => {
  test("accepts a delivery signed with its secret, before and after a rotation, and refuses others", async () => {
    const script = await save(language, name);
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}/`;
    const { destination_id, secret } = await createDestination(url);
    const receiver = start([...program, script], { WEBHOOK_SECRET: secret, PORT: String(port) });
    // Attempts are refused until it listens.
    const tested = await eventually(async () => {
      const delivery = await parley("webhook", "test", destination_id);
      expect(delivery.attempts[0]).toMatchObject({ http_status: 204 });
      return delivery;
    });
    await eventually(() =>
      expect(receiver.output()).toContain(`verified conversation.completed of ${tested.conversation_id}`),
    );
    await parley("webhook", "rotate", destination_id);
    expect((await parley("webhook", "test", destination_id)).attempts[0]).toMatchObject({ http_status: 204 });

    const other = await createDestination(url);
    expect((await parley("webhook", "test", other.destination_id)).attempts[0]).toMatchObject({ http_status: 401 });
  });
});

test("the shell script verifies a saved delivery, and no other payload", async () => {
  const script = await save("bash", "verify.sh");
  const kept = Promise.withResolvers<{ headers: Headers; payload: string }>();
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      kept.resolve({ headers: request.headers, payload: String((await request.formData()).get("payload")) });
      return new Response("ok");
    },
  });
  const { destination_id, secret } = await createDestination(server.url.href);
  await parley("webhook", "rotate", destination_id);
  await parley("webhook", "test", destination_id);
  const { headers, payload } = await kept.promise;
  const values = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((header) => headers.get(header) ?? "");
  const verify = (text: string) => {
    const env = { PATH: process.env.PATH ?? "", WEBHOOK_SECRET: secret };
    const { stdout, exitCode } = Bun.spawnSync(["bash", script, ...values], { env, stdin: Buffer.from(text) });
    return { printed: stdout.toString(), exitCode };
  };
  expect(verify(payload)).toEqual({ printed: `verified ${values[0]}\n`, exitCode: 0 });
  expect(verify(`${payload} `)).toEqual({ printed: "", exitCode: 1 });
});
