import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { Problem } from "./problem.ts";

const RETRIES = 2;

/** @param onSignedOut called when an answer says that the session has ended */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof Problem && error.status === 401) onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // A browser that calls itself offline still reaches a server on its own machine; elsewhere, the request fails and says so.
      queries: { retry: isWorthRetrying, staleTime: 5_000, networkMode: "always", refetchOnReconnect: true },
      mutations: { networkMode: "always" },
    },
  });
}

/** Whether a retry may help, and soon: a request that was wrong stays wrong, and a server that hangs takes as long again. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const { status, isLate } = error instanceof Problem ? error : { status: 0, isLate: false };
  return failures < RETRIES && !isLate && (status === 0 || status >= 500);
}
