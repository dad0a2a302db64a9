import { ServiceError } from "@parley/shared/errors";

/**
 * Returns what a promise rejects with. Replaces `expect(…).rejects`, during which Bun 1.4.5 blocks work that this process must do
 * before the promise can settle.
 * @throws when it resolves
 */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`resolved with ${Bun.inspect(value)}`);
}

/** The error that a call is refused with. @throws when it resolves, and any other error */
export async function serviceErrorOf(call: PromiseLike<unknown>): Promise<ServiceError> {
  const error = await failureOf(call);
  if (error instanceof ServiceError) return error;
  throw error;
}

/** How a call failed, in the terms a test asserts. @throws when it resolves, and any other error */
export async function failure(call: PromiseLike<unknown>): Promise<{ kind: string; detail: string; paths: string[] }> {
  const { kind, detail, violations } = await serviceErrorOf(call);
  return { kind, detail, paths: violations.map(({ path }) => path) };
}
