import type { GateContext } from "../gate.ts";
import { jsonAnswer } from "../http/answer/answers.ts";
import { observed } from "../http/observe.ts";
import { commonHeaders, requestIdOf } from "../http/request-id.ts";
import type { OpenOperation } from "../openapi/open-operation.ts";
import { problemOf } from "../problem.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";

/** The limits of a route that anyone can call, applied before it does any work. */
interface OpenRules {
  /** Requests of one client address in a minute. Routes with the same `name` share the count. */
  perAddress: { name: string; perMinute: number; refusal: string };
  /** Headers of every response, refusals too. */
  headers?: Readonly<Record<string, string>>;
}

export interface OpenRequest {
  request: Request;
  requestId: string;
  params: Readonly<Record<string, string>>;
  /** The client's address. */
  address: string;
}

/**
 * A handler for callers without a key or a session, and the hooks through which the document finds its operation. The
 * work checks what stands for a key; whatever it throws becomes a problem response.
 */
export function openEndpoint(
  gate: GateContext,
  operation: OpenOperation,
  { perAddress, headers: given = {} }: OpenRules,
  work: (open: OpenRequest) => Promise<Response>,
) {
  const respond = async (request: Request, params: Readonly<Record<string, string>>): Promise<Response> => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const headers = { ...commonHeaders(requestId), ...given };
    let response: Response;
    let failure: unknown;
    try {
      const address = gate.addressOf(request);
      const { name, perMinute, refusal } = perAddress;
      refuseOverRate(await gate.addressLimiter.take(`${name}:${address}`, perMinute), refusal);
      response = await work({ request, requestId, params, address });
      for (const [header, value] of Object.entries(headers)) response.headers.set(header, value);
    } catch (error) {
      failure = error;
      const { status, body, headers: own } = problemOf(error, requestId);
      response = jsonAnswer(status, body, new Headers({ ...own, ...headers }));
    }
    gate.logRequest(operation.id, {
      request,
      requestId,
      caller: null,
      status: response.status,
      startedAt,
      failure,
    });
    return response;
  };
  const handler = ({ request, params }: { request: Request; params: unknown }) =>
    observed(operation.id, request, () => respond(request, (params ?? {}) as Record<string, string>));
  return [handler, { parse: "none" as const, detail: { operation } as object }] as const;
}
