import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { isMissing, NotFound, PageFailure, PagePending } from "../../../../app/failures.tsx";
import { type Test, testQuery } from "../queries.ts";
import { useTestDraft } from "./draft.ts";
import { TestEditor } from "./test-editor.tsx";

/** A test of an agent. */
export function TestPage() {
  const { agentId, testId } = useParams({ from: "/signed-in/agents/$agentId/tests/$testId" });
  const test = useQuery(testQuery(agentId, testId));
  if (test.isPending) return <PagePending />;
  if (isMissing(test.error)) return <NotFound what="test" of="agent" all="/agents" />;
  if (test.isLoadingError) return <PageFailure error={test.error} reset={() => test.refetch()} />;
  return <Editor key={testId} test={test.data} />;
}

function Editor({ test }: { test: Test }) {
  return <TestEditor draft={useTestDraft(test)} agentId={test.agent_id} test={test} />;
}
