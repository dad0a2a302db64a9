import { readFileSync } from "node:fs";
import { createFileRegistry, type DescFile, type FileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type Server, type ServerDuplexStream, type ServiceDefinition, status } from "@grpc/grpc-js";
import descriptors from "@parley/proto/descriptors.binpb" with { type: "file" };
import {
  type ServerReflectionRequest as Request,
  type ServerReflectionResponse as Response,
  ServerReflectionService,
} from "@parley/proto/grpc/reflection/v1/reflection.ts";

/**
 * Lets any gRPC tool list and describe this server's `service` (https://grpc.io/docs/guides/reflection/). Written here
 * because the package `@grpc/reflection` reads its proto from a file, which a compiled binary does not have.
 */
export function addReflection(server: Server, service: string): void {
  const serverReflectionInfo = (call: ServerDuplexStream<Request, Response>) => {
    call.on("data", (request: Request) => call.write(answer(request, service)));
    call.on("end", () => call.end());
    call.on("error", () => {});
  };
  for (const definition of [ServerReflectionService, asAlpha(ServerReflectionService)])
    server.addService(definition, { serverReflectionInfo });
}

/** The older name of the same protocol, which tools still use. */
function asAlpha(definition: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    { ...method, path: method.path.replace(".v1.", ".v1alpha.") },
  ]);
  return Object.fromEntries(methods) as ServiceDefinition;
}

function answer(request: Request, service: string): Response {
  return { validHost: request.host, originalRequest: request, messageResponse: find(request.messageRequest, service) };
}

function find(asked: Request["messageRequest"], service: string): Response["messageResponse"] {
  switch (asked?.$case) {
    case "listServices":
      return { $case: "listServicesResponse", value: { service: [{ name: service }] } };
    case "fileByFilename":
      return described(registry().getFile(asked.value.replace(/\.proto$/, "")), asked.value);
    case "fileContainingSymbol":
      return described(fileOf(asked.value), asked.value);
    // No message here has extensions.
    default:
      return refused(status.UNIMPLEMENTED, `There is no answer to ${asked?.$case ?? "an empty request"}`);
  }
}

/** Returns the file of a service, a message, an enum, or a member of one. */
function fileOf(symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
  return (registry().get(symbol) ?? registry().get(parent))?.file;
}

function described(file: DescFile | undefined, asked: string): Response["messageResponse"] {
  if (!file) return refused(status.NOT_FOUND, `${asked} is not known here`);
  const fileDescriptorProto = withImports(file).map(({ proto }) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  );
  return { $case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function withImports(file: DescFile, found = new Set<DescFile>()): DescFile[] {
  found.add(file);
  for (const imported of file.dependencies) if (!found.has(imported)) withImports(imported, found);
  return [...found];
}

function refused(errorCode: status, errorMessage: string): Response["messageResponse"] {
  return { $case: "errorResponse", value: { errorCode, errorMessage } };
}

let known: FileRegistry | null = null;

/** Read for the first tool that asks; in most processes none does. */
function registry(): FileRegistry {
  known ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
  return known;
}
