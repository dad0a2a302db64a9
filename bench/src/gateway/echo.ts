import type { MethodDefinition } from "@grpc/grpc-js";

const bytes = (value: Buffer) => value;

/** A call without a codec, so that only the cost of gRPC itself is left. */
export const ECHO: { echo: MethodDefinition<Buffer, Buffer> } = {
  echo: {
    path: "/bench.Echo/Echo",
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  },
};
