import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { fieldsOf, Problem, sentenceOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Input } from "../../ui/form/input.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
import { CallFields, NEW_CALL, setupBody } from "./call-fields.tsx";
import { CALLS } from "./queries.ts";
import { AT_ONCE, ScheduleFields, scheduleBody } from "./schedule-fields.tsx";

/** Asks for a file of numbers. Wrong rows are named by their lines before anyone is called. */
export function NewBatchDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="New batch"
      description="A CSV file with a column to_mobile_number, and a variable of the prompt in each other column."
    >
      <BatchForm onDone={onClose} />
    </Dialog>
  );
}

const PREVIEW_LINES = 5;
/** What the form shows an error at; the rest is of rows. */
const FIELDS = /^(agent_id|from_mobile_number|voicemail|start_at|window|retries)(\.|$)/;

function BatchForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [setup, setSetup] = useState(NEW_CALL);
  const [schedule, setSchedule] = useState(AT_ONCE);
  const [csv, setCsv] = useState("");
  const make = useMutation({
    mutationFn: () =>
      ask(api.POST("/v1/public/call-batches", { body: { ...setupBody(setup), ...scheduleBody(schedule), csv } })),
    onSuccess: async () => {
      tellDone(schedule.startAt ? "Batch scheduled" : "Batch started");
      onDone();
      await client.invalidateQueries({ queryKey: CALLS });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  const choose = async (file: File | undefined) => {
    make.reset();
    setCsv(file ? await file.text() : "");
  };
  const errors = fieldsOf(make.error);
  const isAtField = errors.keys().some((path) => FIELDS.test(path));
  const lines = csv.trimEnd().split("\n");
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <Field label="File">
        {(control) => (
          <Input
            {...control}
            type="file"
            required
            accept=".csv,text/csv"
            className="h-auto! py-1.5"
            onChange={(event) => void choose(event.target.files?.[0])}
          />
        )}
      </Field>
      {csv !== "" && (
        <div className="flex flex-col gap-2">
          <p className="text-muted">
            {numberOf(lines.length - 1)} {lines.length === 2 ? "row" : "rows"}, starting with
          </p>
          <CodeBlock text={lines.slice(0, PREVIEW_LINES).join("\n")} copied="the first rows" className="max-h-40" />
        </div>
      )}
      <CallFields setup={setup} onChange={setSetup} errors={errors} />
      <ScheduleFields schedule={schedule} onChange={setSchedule} errors={errors} />
      {make.error && !isAtField && <Refusal error={make.error} />}
      <div className="flex justify-end gap-2 pb-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={make.isPending} disabled={setup.agentId === "" || csv === ""}>
          {schedule.startAt ? "Schedule calls" : "Start calling"}
        </Button>
      </div>
    </form>
  );
}

/** What was wrong, row by row. */
function Refusal({ error }: { error: Error }) {
  const rows = error instanceof Problem ? error.violations : [];
  if (rows.length === 0) return <Notice tone="danger">{sentenceOf(error)}</Notice>;
  return (
    <Notice tone="danger">
      <p className="font-medium">No calls were made. Correct the file, then choose it again.</p>
      <ul className="mt-1 max-h-48 list-disc overflow-y-auto pl-5">
        {rows.map((row) => (
          <li key={row}>{row}</li>
        ))}
      </ul>
    </Notice>
  );
}
