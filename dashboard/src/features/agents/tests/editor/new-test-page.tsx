import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { tellDone } from "../../../../ui/overlay/toasts.tsx";
import { useNewTestDraft } from "./draft.ts";
import { TestEditor } from "./test-editor.tsx";

/** A test that is saved for the first time. */
export function NewTestPage() {
  const { agentId } = useParams({ from: "/signed-in/agents/$agentId/tests/new" });
  return <NewTest key={agentId} agentId={agentId} />;
}

function NewTest({ agentId }: { agentId: string }) {
  const navigate = useNavigate();
  const [madeId, setMadeId] = useState<string | null>(null);
  const draft = useNewTestDraft(agentId, ({ test_id, name }) => {
    tellDone(`Created “${name}”`);
    setMadeId(test_id);
  });
  // The form asks before it is left as long as it counts as changed.
  const isDone = madeId !== null && !draft.isDirty;
  useEffect(() => {
    if (isDone)
      void navigate({ to: "/agents/$agentId/tests/$testId", params: { agentId, testId: madeId }, replace: true });
  }, [isDone, madeId, agentId, navigate]);
  return <TestEditor draft={draft} agentId={agentId} test={null} />;
}
