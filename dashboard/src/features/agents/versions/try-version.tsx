import { useQuery } from "@tanstack/react-query";
import { Button } from "../../../ui/button.tsx";
import { ErrorState, LoadingRows } from "../../../ui/states.tsx";
import { TryIt, type Trying } from "../../try-it/try-it.tsx";
import { storedValues } from "../editor/draft.ts";
import { versionQuery } from "./versions.ts";

/** A chat or a call with a version of an agent as it is stored, published or not. */
export function TryVersion({ agentId, version, ...how }: { agentId: string; version: number } & Trying) {
  const read = useQuery(versionQuery(agentId, version));
  if (read.data) {
    const { agent } = read.data;
    return <TryIt tried={{ agent, values: storedValues(agent), changes: {} }} version={version} {...how} />;
  }
  return (
    <div className="flex flex-col gap-4 p-4">
      {read.isLoadingError ? <ErrorState error={read.error} onRetry={read.refetch} /> : <LoadingRows rows={2} />}
      <Button onClick={how.onClose}>Close</Button>
    </div>
  );
}
