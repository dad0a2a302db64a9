import { readFileSync } from "node:fs";
import type { Server } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, type PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import descriptors from "@parley/proto/descriptors.binpb" with { type: "file" };

let loaded: PackageDefinition | null = null;

/** Lets any gRPC tool list and describe the services. */
export function addReflection(server: Server): void {
  loaded ??= loadFileDescriptorSetFromBuffer(readFileSync(descriptors));
  new ReflectionService(loaded).addToServer(server);
}
