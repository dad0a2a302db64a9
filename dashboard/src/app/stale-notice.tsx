import { notifyManager, type QueryCache, useQueryClient } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";
import { sentenceOf } from "../api/problem.ts";
import { Button } from "../ui/button.tsx";

/** Says that what the page shows could not be read again, and may be old. */
export function StaleNotice() {
  const client = useQueryClient();
  const cache = client.getQueryCache();
  const subscribe = useCallback((changed: () => void) => cache.subscribe(notifyManager.batchCalls(changed)), [cache]);
  const why = useSyncExternalStore(
    subscribe,
    () => failureIn(cache),
    () => failureIn(cache),
  );
  if (why === "") return null;
  const retry = () => client.refetchQueries({ predicate: ({ state }) => state.status === "error" });
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-warning-soft px-4 py-2 text-warning-ink sm:px-8"
    >
      <p className="min-w-0 flex-1 basis-64 break-words">{why} What this page shows may be out of date.</p>
      <Button size="small" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}

/** Why something that the page shows could not be read again; "" if all of it could. */
function failureIn(cache: QueryCache): string {
  const failed = cache
    .getAll()
    .find((query) => query.isActive() && query.state.status === "error" && query.state.data !== undefined);
  return failed ? sentenceOf(failed.state.error) : "";
}
