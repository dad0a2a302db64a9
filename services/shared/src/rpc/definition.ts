import type { ServiceDefinition } from "@grpc/grpc-js";

/** A method as ts-proto generates it. */
// biome-ignore lint/suspicious/noExplicitAny: each method has its own messages, seen through the types below
export type AnyMethod = ServiceDefinition[string] & { requestSerialize: (value: any) => Buffer };

export type RequestOf<M> = M extends { requestDeserialize: (value: Buffer) => infer T } ? T : never;
export type ResponseOf<M> = M extends { responseDeserialize: (value: Buffer) => infer T } ? T : never;

export type Definition = Record<string, AnyMethod>;
