import {
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "@parley/proto/grpc/health/v1/health.ts";
import { notFound } from "../errors.ts";
import type { Call } from "./call.ts";

/**
 * The standard health service (https://grpc.io/docs/guides/health-checking/): the process and its one service report
 * SERVING until shutdown. Written here because the package `grpc-health-check` reads its proto from a file, which a
 * compiled binary does not have.
 */
export function healthHandlers(service: string) {
  const known = ["", service];
  const status = (stopping: AbortSignal) => (stopping.aborted ? ServingStatus.NOT_SERVING : ServingStatus.SERVING);
  return {
    check: async (request: HealthCheckRequest, { stopping }: Call) => {
      if (!known.includes(request.service)) throw notFound(`Service ${request.service}`);
      return { status: status(stopping) };
    },
    list: async (_: unknown, { stopping }: Call) => ({
      statuses: Object.fromEntries(known.map((name) => [name, { status: status(stopping) }])),
    }),
    async *watch(request: HealthCheckRequest, { signal, stopping }: Call) {
      const isKnown = known.includes(request.service);
      yield { status: isKnown ? status(stopping) : ServingStatus.SERVICE_UNKNOWN };
      await fired(AbortSignal.any([signal, stopping]));
      if (isKnown) yield { status: ServingStatus.NOT_SERVING };
    },
  };
}

function fired(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
