import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { loadFileDescriptorSetFromBuffer, type MessageTypeDefinition } from "@grpc/proto-loader";
import descriptorsFile from "@parley/proto/descriptors.binpb" with { type: "file" };
import fc from "fast-check";
import { asLoaded, messageValue } from "./fixtures/wire-values.ts";

// Compares ts-proto's codecs with those that protobufjs makes of the same descriptors: they share no code.

interface Codec {
  encode(value: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
}

const bytes = readFileSync(descriptorsFile);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
const loaded = loadFileDescriptorSetFromBuffer(bytes, { longs: Number });
const messages = [...registry]
  .filter((type): type is DescMessage => type.kind === "message")
  // A nested type is tested with its parent, Google's types within ours, and gRPC's own by its standard clients.
  .filter((type) => type.parent === undefined && !/^(google\.protobuf|grpc)\./.test(type.typeName))
  .map((type) => [type.typeName, type] as const);

test("every service has its messages in this test", () => {
  const packages = new Set(messages.map(([name]) => name.split(".")[1]));
  const named = [
    "account",
    "agent",
    "common",
    "conversation",
    "knowledge",
    "messaging",
    "prompt",
    "rpc",
    "voice",
    "webhook",
  ];
  expect([...packages].toSorted()).toEqual(named);
});

test.each(messages)("%s has the same wire format as in other implementations", async (name, message) => {
  const ours = await codecOf(message);
  const theirs = loaded[name] as MessageTypeDefinition<object, object>;
  const property = fc.property(messageValue(message), (value) => {
    const theirValue = asLoaded(message, value);
    expect(theirs.deserialize(Buffer.from(ours.encode(value).finish()))).toEqual(theirValue);
    expect(ours.decode(theirs.serialize(theirValue))).toEqual(value);
  });
  fc.assert(property, { numRuns: 25 });
});

async function codecOf(message: DescMessage): Promise<Codec> {
  const module = await import(`@parley/proto/${message.file.name}.ts`);
  return module[message.name];
}
