import { readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { Server } from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import descriptors from "@parley/proto/descriptors.binpb" with { type: "file" };

let files: Buffer[] | null = null;

/** Lets any gRPC tool see that this server offers `service`, and describe it. */
export function addReflection(server: Server, service: string): void {
  files ??= splitDescriptorSet(readFileSync(descriptors));
  // All that it looks at of a definition; to have proto-loader make whole ones takes a third of a second of every start.
  const definition = { files: { fileDescriptorProtos: files } } as unknown as PackageDefinition;
  new ReflectionService(definition, { services: [service] }).addToServer(server);
}

/** The files of a google.protobuf.FileDescriptorSet: its one field, repeated. */
function splitDescriptorSet(bytes: Uint8Array): Buffer[] {
  const reader = new BinaryReader(bytes);
  const split: Buffer[] = [];
  while (reader.pos < reader.len) {
    reader.tag();
    split.push(Buffer.from(reader.bytes()));
  }
  return split;
}
