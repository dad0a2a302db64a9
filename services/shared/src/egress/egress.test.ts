import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { startRawServer } from "@parley/testkit/network/raw-server";
import { parseAllowList } from "./allow-list.ts";
import { createEgress, type EgressOptions } from "./egress.ts";
import { resolveChecked } from "./resolve.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

const opened: { close(): void }[] = [];
afterAll(() => {
  for (const egress of opened) egress.close();
});

function egressTo(allow: string, options: Partial<EgressOptions> = {}) {
  const egress = createEgress({ connectTimeoutMs: 2_000, ...options, allow: parseAllowList(allow) });
  opened.push(egress);
  return egress;
}
const egress = egressTo("127.0.0.1");

describe("addresses", () => {
  test("over plain http an unlisted host is not looked up, and no private address is connected to", async () => {
    await using server = await startRawServer((socket) => socket.end(OK));
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ["127.0.0.1"];
    };
    const { fetch } = egressTo("other.internal", { resolve });
    const port = server.port;
    for (const url of [`http://name.test:${port}/`, server.url, `https://127.0.0.1:${port}/`])
      await expect(fetch(url)).rejects.toMatchObject({ name: "EgressError", kind: "forbidden" });
    expect(asked).toEqual([]);
    await expect(fetch(`https://name.test:${port}/`)).rejects.toMatchObject({ kind: "forbidden" });
    expect(asked).toEqual(["name.test"]);
    expect(server.connections).toEqual([]);
  });

  test("a name that is public when checked and private afterwards is connected to at the checked address only", async () => {
    const answers = ["8.8.8.8", "127.0.0.1"];
    const url = new URL("https://name.test/");
    expect(await resolveChecked(url, [], async () => answers.splice(0, 1))).toEqual(["8.8.8.8"]);
    expect(answers).toEqual(["127.0.0.1"]);
  });

  test.each([
    ["forbidden", async () => ["8.8.8.8", "10.0.0.1"]],
    ["forbidden", async () => ["2606:4700::1", "::ffff:8.8.8.8"]],
    ["forbidden", async () => ["not an address"]],
    ["unresolvable", async () => []],
    ["unresolvable", async () => Promise.reject(new Error("ENOTFOUND"))],
    ["timeout", () => new Promise<string[]>(() => {})],
  ] as const)("a name whose look-up gives no usable address is %s", async (kind, resolve) => {
    const { fetch } = egressTo("", { resolve, connectTimeoutMs: 50 });
    await expect(fetch("https://name.test/")).rejects.toMatchObject({ name: "EgressError", kind });
  });

  test("if an address refuses the connection, the next one is tried", async () => {
    await using server = await startRawServer((socket) => socket.write(OK));
    const { fetch } = egressTo("name.test", { resolve: async () => ["127.0.0.2", "127.0.0.1"] });
    expect(await (await fetch(`http://name.test:${server.port}/`)).text()).toBe("ok");
  });

  test("at most eight addresses of a name are tried", async () => {
    await using server = await startRawServer((socket) => socket.write(OK));
    const closed = Array.from({ length: 8 }, (_, at) => `127.0.1.${at + 1}`);
    const named = (before: number) =>
      egressTo("name.test", { resolve: async () => [...closed.slice(0, before), "127.0.0.1"] });
    const url = `http://name.test:${server.port}/`;
    await expect(named(8).fetch(url)).rejects.toMatchObject({ kind: "network" });
    expect(server.connections).toEqual([]);
    expect(await (await named(7).fetch(url)).text()).toBe("ok");
  });

  test("if no address accepts a connection, the network error names the host, not the address", async () => {
    const { fetch } = egressTo("name.test", { resolve: async () => ["127.0.0.1"] });
    const refused = fetch("http://name.test:1/");
    await expect(refused).rejects.toMatchObject({ kind: "network", message: "name.test refused the connection" });
  });

  test("the proxy of the environment is not used", async () => {
    await using server = await startRawServer((socket) => socket.write(OK));
    await using proxy = await startRawServer((socket) => socket.write(OK));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = proxy.url;
    try {
      await (await egress.fetch(server.url)).text();
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
    expect([server.connections.length, proxy.connections.length]).toEqual([1, 0]);
  });
});

describe("requests", () => {
  test.each([
    ["a text", "hällo", "text/plain;charset=utf-8"],
    ["bytes", new TextEncoder().encode("hällo"), undefined],
  ])(
    "with %s, method, path, headers and body arrive, and the guard sets the headers that describe the connection",
    async (_, given, contentType) => {
      await using server = await startRawServer((socket) => socket.write(OK));
      const headers = {
        Authorization: "Bearer k",
        Host: "evil.test",
        Connection: "close",
        "Accept-Encoding": "gzip",
        Expect: "100-continue",
      };
      await egress.fetch(`${server.url}v1/chat?a=1`, { method: "POST", headers, body: given });
      const [head = "", body] = (server.connections[0]?.received ?? "").split("\r\n\r\n");
      expect(head.split("\r\n").map((line) => line.toLowerCase())).toEqual(
        expect.arrayContaining([
          "post /v1/chat?a=1 http/1.1",
          "authorization: bearer k",
          `host: 127.0.0.1:${server.port}`,
          "connection: keep-alive",
          "accept-encoding: identity",
          "content-length: 6",
        ]),
      );
      expect(/^content-type: (.*)$/m.exec(head.toLowerCase().replaceAll("\r", ""))?.[1]).toBe(contentType);
      expect(head).not.toContain("evil.test");
      expect(head.toLowerCase()).not.toContain("expect:");
      expect(body).toBe(Buffer.from("hällo").toString("latin1"));
    },
  );

  test("a header value that would begin another header is refused, and nothing is sent", async () => {
    await using server = await startRawServer((socket) => socket.write(OK));
    const headers = { "x-name": "value\r\nx-other: value" };
    await expect(egress.fetch(server.url, { method: "POST", headers, body: new Uint8Array(1) })).rejects.toBeInstanceOf(
      TypeError,
    );
    expect(server.connections).toEqual([]);
  });

  test("a form arrives as multipart with its own boundary", async () => {
    const received = Promise.withResolvers<FormData>();
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        received.resolve((await request.formData()) as FormData);
        return new Response("ok");
      },
    });
    const body = new FormData();
    body.append("event", "conversation.completed");
    const response = await egress.fetch(new URL(`http://127.0.0.1:${server.port}/`), { method: "POST", body });
    expect(await response.text()).toBe("ok");
    expect([...(await received.promise).entries()]).toEqual([["event", "conversation.completed"]]);
  });

  test("a connection is reused, an idle one is closed, and a silent reply may take longer than that", async () => {
    await using server = await startRawServer((socket, _, message) => {
      if (message < 5) return socket.write(OK);
      socket.write(CHUNKED + chunk("late "));
      return setTimeout(() => socket.write(`${chunk("reply")}0\r\n\r\n`), 1_500);
    });
    const { fetch } = egressTo("127.0.0.1", { idleTimeoutMs: 1_000 });
    const replies: string[] = [];
    for (let turn = 0; turn < 5; turn++) replies.push(await (await fetch(server.url)).text());
    expect(replies).toEqual(["ok", "ok", "ok", "ok", "late reply"]);
    expect(server.connections).toHaveLength(1);
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  });

  test("the connection timeout does not limit the time to answer, on a new connection or a reused one", async () => {
    await using server = await startRawServer((socket) => setTimeout(() => socket.write(OK), 1_300));
    const { fetch } = egressTo("127.0.0.1", { connectTimeoutMs: 1_000 });
    for (let turn = 0; turn < 2; turn++) expect(await (await fetch(server.url)).text()).toBe("ok");
    expect(server.connections).toHaveLength(1);
  });

  test("if one of several addresses has an open connection, it is used", async () => {
    await using server = await startRawServer((socket) => socket.write(OK), "0.0.0.0");
    const answers = ["127.0.0.1", "127.0.0.2"];
    const { fetch } = egressTo("name.test", { resolve: async () => answers.reverse().slice() });
    for (let turn = 0; turn < 4; turn++) await (await fetch(`http://name.test:${server.port}/`)).text();
    expect(server.connections).toHaveLength(1);
  });

  test("a reused connection that the server closes is replaced once, and the caller does not notice", async () => {
    await using server = await startRawServer((socket, connection, message) => {
      if (connection === 1 && message === 2) socket.resetAndDestroy();
      else socket.write(OK);
    });
    const post = async () => (await egress.fetch(server.url, { method: "POST", body: "x" })).text();
    expect([await post(), await post()]).toEqual(["ok", "ok"]);
    expect(server.connections).toHaveLength(2);
  });

  test("a request on a new connection that is reset is not retried", async () => {
    await using server = await startRawServer((socket) => socket.resetAndDestroy());
    await expect(egress.fetch(server.url)).rejects.toMatchObject({ kind: "network" });
    expect(server.connections).toHaveLength(1);
  });
});

describe("redirects", () => {
  test("a redirect is an error, and its target is not requested", async () => {
    await using target = await startRawServer((socket) => socket.write(OK));
    await using server = await startRawServer((socket) =>
      socket.write(`HTTP/1.1 307 Temporary Redirect\r\nLocation: ${target.url}\r\nContent-Length: 0\r\n\r\n`),
    );
    for (const redirect of [undefined, "follow", "error"] as const)
      await expect(egress.fetch(server.url, redirect && { redirect })).rejects.toMatchObject({
        kind: "redirect",
        message: "127.0.0.1 answered with a redirect (307), which is not followed: give the final address",
      });
    const response = await egress.fetch(server.url, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([307, target.url]);
    expect(target.connections).toEqual([]);
  });
});

describe("cancelling", () => {
  test("an abort before the response head rejects with its reason and closes the connection", async () => {
    await using server = await startRawServer(() => {});
    const controller = new AbortController();
    const reply = egress.fetch(server.url, { signal: controller.signal });
    await eventually(() => expect(server.connections).toHaveLength(1));
    controller.abort(new Error("left"));
    await expect(reply).rejects.toThrow("left");
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  });

  test("an abort during the body fails it with its reason and closes the connection", async () => {
    await using server = await startRawServer((socket) => socket.write(CHUNKED + chunk("one")));
    const controller = new AbortController();
    const { body } = await egress.fetch(server.url, { signal: controller.signal });
    const reader = body?.getReader();
    await reader?.read();
    const next = reader?.read();
    controller.abort();
    await expect(next).rejects.toMatchObject({ name: "AbortError" });
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  });

  test("a cancelled body closes the connection", async () => {
    await using server = await startRawServer((socket) => socket.write(CHUNKED + chunk("one")));
    const { body } = await egress.fetch(server.url);
    await body?.cancel();
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  });

  test("an aborted signal opens no connection", async () => {
    await using server = await startRawServer((socket) => socket.write(OK));
    const reply = egress.fetch(server.url, { signal: AbortSignal.abort() });
    await expect(reply).rejects.toMatchObject({ name: "AbortError" });
    expect(server.connections).toEqual([]);
  });
});

describe("bodies", () => {
  test("a listed host on loopback streams over plain http, chunk by chunk", async () => {
    const next = Promise.withResolvers<void>();
    await using server = await startRawServer(async (socket) => {
      socket.write(CHUNKED + chunk("one "));
      await next.promise;
      socket.write(`${chunk("two")}0\r\n\r\n`);
    });
    const { body } = await egress.fetch(server.url);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toEqual({ done: false, value: "one " });
    next.resolve();
    expect(await reader?.read()).toEqual({ done: false, value: "two" });
    expect(await reader?.read()).toEqual({ done: true, value: undefined });
  });

  test("a body exactly at the limit is whole", async () => {
    await using server = await startRawServer((socket) => socket.write(OK));
    const { fetch } = egressTo("127.0.0.1", { maxResponseBytes: "ok".length });
    expect(await (await fetch(server.url)).text()).toBe("ok");
  });

  test("a body over the limit fails, and its connection is closed", async () => {
    await using server = await startRawServer((socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${"a".repeat(2_000)}`));
    const { fetch } = egressTo("127.0.0.1", { maxResponseBytes: 1_000 });
    const response = await fetch(server.url);
    await expect(response.text()).rejects.toMatchObject({
      kind: "too_large",
      message: "The response of 127.0.0.1 is longer than 1000 bytes",
    });
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  });

  test("a body that nobody reads stops the server instead of filling memory", async () => {
    let sentBytes = 0;
    const block = Buffer.alloc(65_536);
    await using server = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const fill = () => {
        if (socket.destroyed || sentBytes > 200e6) return;
        sentBytes += block.length;
        socket.write(block, fill);
      };
      fill();
    });
    const { body } = await egress.fetch(server.url);
    await Bun.sleep(500);
    expect(sentBytes).toBeLessThan(50e6);
    await body?.cancel();
  });

  test.each([
    ["a chunked body without its end", CHUNKED + chunk("hello")],
    ["a chunk cut in two", `${CHUNKED}a\r\nhello`],
    ["a last chunk cut in two", `${CHUNKED}${chunk("hello")}0\r\n`],
    ["fewer bytes than announced", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"],
  ])("%s is an error, not a short success", async (_, sent) => {
    await using server = await startRawServer((socket) => socket.end(sent));
    const read = egress.fetch(server.url).then((response) => response.text());
    await expect(read).rejects.toMatchObject({
      kind: "network",
      message: "127.0.0.1 closed the connection before the response was complete",
    });
  });

  test.each([
    ["chunked", CHUNKED + chunk("hello")],
    ["of announced length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"],
    ["ended by the connection", "HTTP/1.1 200 OK\r\n\r\nhello"],
  ])("a reset in a body %s is an error", async (_, sent) => {
    // A reset discards data that the client has not read yet.
    const headRead = Promise.withResolvers<void>();
    await using server = await startRawServer(async (socket) => {
      socket.write(sent);
      await headRead.promise;
      socket.resetAndDestroy();
    });
    const response = await egress.fetch(server.url);
    headRead.resolve();
    await expect(response.text()).rejects.toMatchObject({ kind: "network" });
  });

  test("a compressed body is not decompressed, and its status is still returned", async () => {
    await using server = await startRawServer((socket) =>
      socket.write(OK.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n")),
    );
    const response = await egress.fetch(server.url);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toMatchObject({ kind: "network" });
  });

  test.each([
    ["HTTP/1.1 204 No Content\r\n\r\n", 204],
    ["HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404],
  ])("%j is an empty response with status %d", async (sent, status) => {
    await using server = await startRawServer((socket) => socket.write(sent));
    const response = await egress.fetch(server.url);
    expect([response.status, await response.text()]).toEqual([status, ""]);
  });

  test.each([
    ["another protocol", "SSH-2.0-OpenSSH\r\n"],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["an endless head", `HTTP/1.1 200 OK\r\nA: ${"a".repeat(100_000)}`],
    ["an impossible status", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"],
  ])("%s is a network error", async (_, sent) => {
    await using server = await startRawServer((socket) => socket.write(sent));
    await expect(egress.fetch(server.url)).rejects.toMatchObject({ name: "EgressError", kind: "network" });
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  });
});
