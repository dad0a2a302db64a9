import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../../ui/button.tsx";
import { agentQuery } from "../../agents.ts";
import { PublishDialog, publishWord } from "../../versions/publish-dialog.tsx";
import { trafficQuery } from "../../versions/versions.ts";
import type { Run } from "../queries.ts";

/** Publishes the version of a run that has passed, unless all new conversations get it already. */
export function PublishRun({ run }: { run: Run }) {
  const { agent_id: agentId, agent_version: version } = run;
  const hasPassed = isPassed(run);
  const agent = useQuery({ ...agentQuery(agentId), enabled: hasPassed }).data;
  const split = useQuery({ ...trafficQuery(agentId), enabled: hasPassed }).data;
  const [publishing, setPublishing] = useState<number | null>(null);
  if (!hasPassed || !agent || !split) return null;
  const isAlone = split.length === 1 && split[0]?.agent_version === version;
  return (
    <>
      {!isAlone && (
        <Button variant="primary" onClick={() => setPublishing(version)}>
          {publishWord(agent, version) === "Publish" ? "Publish this version" : "Roll back to this version"}
        </Button>
      )}
      <PublishDialog draft={{ agent, isDirty: false }} version={publishing} onClose={() => setPublishing(null)} />
    </>
  );
}

/** Whether its required tests have passed; without any, all of its tests. */
function isPassed({ results }: Run): boolean {
  const required = results.filter((result) => result.required);
  return (required.length > 0 ? required : results).every(({ passed }) => passed === true);
}
