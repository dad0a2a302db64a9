import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api } from "../../../../api/client.ts";
import { fieldsOf, messageAt } from "../../../../api/problem.ts";
import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { DialogForm } from "../../../../ui/form/dialog-form.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { Dialog } from "../../../../ui/overlay/dialog.tsx";
import { runQuery, runsQuery, type Test, testsQuery } from "../queries.ts";
import { LATEST, numbered, versionOf } from "./chosen-version.ts";
import { CostCapFields, NO_CAP } from "./cost-cap.tsx";
import { VersionField } from "./version-field.tsx";

/**
 * Asks which tests to run against which version.
 * @param chosen `all`, or the ID of the test that is chosen at first; undefined while it is closed
 * @param version the one that is chosen at first; by default the latest
 */
export function RunDialog({
  agentId,
  chosen,
  version,
  onClose,
}: {
  agentId: string;
  chosen: string | undefined;
  version: number | undefined;
  onClose: () => void;
}) {
  const tests = useQuery(testsQuery(agentId)).data;
  return (
    <Dialog open={chosen !== undefined && tests !== undefined} onClose={onClose} title="Run tests">
      <RunForm agentId={agentId} tests={tests ?? []} chosen={chosen ?? "all"} first={version} onClose={onClose} />
    </Dialog>
  );
}

function RunForm({
  agentId,
  tests,
  chosen,
  first,
  onClose,
}: {
  agentId: string;
  tests: readonly Test[];
  chosen: string;
  first: number | undefined;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [version, setVersion] = useState(first === undefined ? LATEST : numbered(first));
  const [cap, setCap] = useState(NO_CAP);
  const [left, setLeft] = useState<ReadonlySet<string>>(
    () => new Set(chosen === "all" ? [] : tests.map(({ test_id }) => test_id).filter((id) => id !== chosen)),
  );
  const legend = useId();
  const wanted = tests.filter(({ test_id }) => !left.has(test_id));
  const run = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/agents/{agent_id}/tests/run", {
        params: { path: { agent_id: agentId } },
        body: {
          agent_version: versionOf(version),
          ...(wanted.length < tests.length && { tests: wanted.map(({ test_id }) => test_id) }),
          ...cap,
        },
      }),
    onSuccess: async (begun) => {
      client.setQueryData(runQuery(agentId, begun.run_id).queryKey, begun);
      void client.invalidateQueries({ queryKey: runsQuery(agentId).queryKey });
      // Going back leads to before the dialog.
      const params = { agentId, runId: begun.run_id };
      await navigate({ to: "/agents/$agentId/runs/$runId", params, replace: true });
    },
  });
  const fields = fieldsOf(run.error);
  const toggle = (testId: string, isWanted: boolean) => {
    const next = new Set(left);
    if (isWanted) next.delete(testId);
    else next.add(testId);
    setLeft(next);
  };
  return (
    <DialogForm
      onSubmit={() => run.mutate()}
      busy={run.isPending}
      disabled={wanted.length === 0}
      error={run.error}
      action={`Run ${wanted.length === 1 ? "1 test" : `${wanted.length} tests`}`}
      onCancel={onClose}
    >
      <VersionField
        agentId={agentId}
        value={version}
        onChange={setVersion}
        error={fields.get("agent_version") ?? fields.get("version")}
      />
      <fieldset className="flex flex-col gap-2.5" aria-describedby={fields.has("tests") ? `${legend}error` : undefined}>
        <legend className="mb-2 font-medium">Tests</legend>
        {tests.length > 1 && (
          <Checkbox
            checked={left.size === 0}
            onChange={(all) => setLeft(new Set(all ? [] : tests.map(({ test_id }) => test_id)))}
            label="All tests"
          />
        )}
        <div className="flex max-h-60 flex-col gap-2.5 overflow-y-auto rounded-lg border border-line p-3">
          {tests.map(({ test_id, name, repeat }) => (
            <Checkbox
              key={test_id}
              checked={!left.has(test_id)}
              onChange={(isWanted) => toggle(test_id, isWanted)}
              label={<span className="wrap-anywhere">{name}</span>}
              hint={repeat > 1 ? `${repeat} conversations` : undefined}
            />
          ))}
        </div>
        <FieldError id={`${legend}error`}>{fields.get("tests")}</FieldError>
      </fieldset>
      <CostCapFields value={cap} onChange={setCap} errorAt={(path) => messageAt(fields, path)} />
    </DialogForm>
  );
}
