import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../../../api/client.ts";
import { Problem } from "../../../../api/problem.ts";
import { type FormDraft, useFormDraft } from "../../../../ui/editor/form-draft.ts";
import { tellDone } from "../../../../ui/overlay/toasts.tsx";
import { type Test, testQuery, testsQuery } from "../queries.ts";
import { bodyOf, formOf, NEW_TEST, type TestBody, type TestForm } from "./form.ts";

export type TestDraft = FormDraft<TestForm>;

/** The changes of a stored test until they are saved. */
export function useTestDraft(test: Test): TestDraft {
  const client = useQueryClient();
  const stored = useMemo(() => formOf(test), [test]);
  const { agent_id, test_id } = test;
  const { queryKey } = testQuery(agent_id, test_id);
  const write = async (body: TestBody, base: string) => {
    const params = { path: { agent_id, test_id }, query: { if_updated_at: base } };
    const saved = await api
      .PATCH("/v1/public/agents/{agent_id}/tests/{test_id}", { params, body })
      .catch(async (error) => {
        // Somebody else's change shows, if that was the reason.
        if (error instanceof Problem && error.status === 409) await client.invalidateQueries({ queryKey });
        throw error;
      });
    client.setQueryData(queryKey, saved);
    tellDone("Saved");
    await client.invalidateQueries({ queryKey: testsQuery(agent_id).queryKey });
    return saved.updated_at;
  };
  return useFormDraft({ stored, version: test.updated_at, thing: test_id, bodyOf, write });
}

/** A test that does not exist yet. */
export function useNewTestDraft(agentId: string, onMade: (test: Test) => void): TestDraft {
  const client = useQueryClient();
  const write = async (changes: TestBody) => {
    const body = { ...bodyOf(NEW_TEST).body, ...changes, name: changes.name ?? "" };
    const params = { path: { agent_id: agentId } };
    const made = await api.POST("/v1/public/agents/{agent_id}/tests", { params, body });
    client.setQueryData(testQuery(agentId, made.test_id).queryKey, made);
    onMade(made);
    await client.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
    return made.updated_at;
  };
  return useFormDraft({ stored: NEW_TEST, version: "", thing: `new-test-${agentId}`, bodyOf, write });
}
