import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials, type ServiceError as GrpcError } from "@grpc/grpc-js";
import descriptors from "@parley/proto/descriptors.binpb" with { type: "file" };
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ServiceError } from "../src/errors.ts";
import { silentLogger } from "../src/log.ts";
import type { AnyMethod, Definition } from "../src/rpc/definition.ts";
import { type Handlers, serve } from "../src/rpc/server.ts";
import { fromStatus } from "../src/rpc/status.ts";

const REACHED = "the handler was reached";

const services: Definition[] = [
  AccountServiceService,
  AgentServiceService,
  ConversationServiceService,
  KnowledgeServiceService,
  MessagingServiceService,
  PromptServiceService,
  VoiceServiceService,
  WebhookDispatcherServiceService,
];
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
const served = await Promise.all(
  services.map(async (definition) => {
    const server = await serve(definition, reachable(definition), { address: "127.0.0.1:0", log: silentLogger });
    return { definition, server, client: new Client(server.address, credentials.createInsecure()) };
  }),
);
afterAll(async () => {
  for (const { client } of served) client.close();
  await Promise.all(served.map(({ server }) => server.stop()));
});

const rpcs = served.flatMap(({ definition, client }) =>
  Object.values(definition).map((method) => {
    const [, service = "", name = ""] = method.path.split("/");
    const input = registry.getService(service)?.methods.find((each) => each.name === name)?.input;
    if (!input) throw new Error(`${method.path} is not described`);
    return { ...method, client, input };
  }),
);

describe("every RPC", () => {
  test("with owner ids is listed, whether they are in the request, in a part of it or in each of its items", () => {
    const fields = rpcs.flatMap(({ input }) => ownerIds(input) ?? []);
    expect(new Set(fields)).toEqual(
      new Set([
        "owner_id",
        "turn.owner_id",
        "change.owner_id",
        "keys.1.owner_id",
        "items.1.owner_id",
        "events.1.owner_id",
        "starts.1.turn.owner_id",
        "start.owner_id",
      ]),
    );
    expect(fields.length).toBeGreaterThan(60);
  });

  test.each(rpcs.map((rpc) => [rpc.path, rpc] as const))("%s refuses an empty owner id by its name", async (_, rpc) => {
    const field = ownerIds(rpc.input);
    expect(await call(rpc, "own_1")).toMatchObject({ detail: REACHED });
    if (field === null) return;
    expect(await call(rpc, "")).toMatchObject({
      kind: "invalid",
      detail: `${field} must not be empty`,
      violations: [{ path: field, message: `${field} must not be empty` }],
    });
  });
});

interface Rpc {
  path: string;
  requestStream: boolean;
  responseStream: boolean;
  client: Client;
  input: DescMessage;
}

/** The error of a call whose last owner id is this one; each list has two items. */
function call({ path, requestStream, responseStream, client, input }: Rpc, ownerId: string): Promise<ServiceError> {
  const request = toBinary(input, create(input, given(input, ownerId)));
  const bytes = Buffer.from(request);
  const same = (value: Buffer) => value;
  return new Promise((resolve, reject) => {
    const done = (error: GrpcError | null) =>
      error ? resolve(fromStatus(error, "peer", false)) : reject(new Error("the call succeeded"));
    const read = (stream: NodeJS.ReadableStream) =>
      stream.on("error", (error) => done(error as GrpcError)).on("data", () => done(null));
    if (requestStream && responseStream) {
      const stream = client.makeBidiStreamRequest(path, same, same);
      read(stream);
      stream.end(bytes);
    } else if (requestStream) {
      client.makeClientStreamRequest(path, same, same, done).end(bytes);
    } else if (responseStream) {
      read(client.makeServerStreamRequest(path, same, same, bytes));
    } else {
      client.makeUnaryRequest(path, same, same, bytes, done);
    }
  });
}

function given(message: DescMessage, ownerId: string): MessageInitShape<DescMessage> {
  const init: Record<string, unknown> = {};
  for (const field of message.fields) {
    if (field.name === "owner_id") init.ownerId = ownerId;
    else if (field.oneof || !holdsOwner(field.message)) continue;
    else if (field.fieldKind === "list")
      init[field.localName] = ["own_2", ownerId].map((id) => given(field.message as DescMessage, id));
    else if (field.fieldKind === "message") init[field.localName] = given(field.message, ownerId);
  }
  return init as MessageInitShape<DescMessage>;
}

/** The owner id of a request that `call` leaves empty; null if it has none. */
function ownerIds(message: DescMessage): string | null {
  for (const field of message.fields) {
    if (field.name === "owner_id") return field.name;
    const inner = holdsOwner(field.message) ? ownerIds(field.message) : null;
    if (inner !== null) return `${field.name}${field.fieldKind === "list" ? ".1" : ""}.${inner}`;
  }
  return null;
}

/** @param within the messages around it; those of JSON contain themselves */
function holdsOwner(message: DescMessage | undefined, within: readonly DescMessage[] = []): message is DescMessage {
  if (!message || within.includes(message)) return false;
  return message.fields.some((field) => field.name === "owner_id" || holdsOwner(field.message, [...within, message]));
}

/** Handlers of every method that report that they were reached, once they have read the request. */
function reachable(definition: Definition): Handlers<Definition> {
  const reached = () => new ServiceError("condition", REACHED);
  const once = async () => {
    throw reached();
  };
  const many = async function* () {
    yield* [];
    throw reached();
  };
  const collect = async (requests: AsyncIterable<unknown>) => {
    for await (const _ of requests);
    throw reached();
  };
  const both = async function* (requests: AsyncIterable<unknown>) {
    yield* [];
    await collect(requests);
  };
  const handlerOf = ({ requestStream, responseStream }: AnyMethod) => {
    if (requestStream) return responseStream ? both : collect;
    return responseStream ? many : once;
  };
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [name, handlerOf(method)]),
  ) as Handlers<Definition>;
}
