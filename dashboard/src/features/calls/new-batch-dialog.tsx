import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { FormActions } from "../../ui/form/form-actions.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { CallFields, setupBody, useCallSetup } from "./call-fields.tsx";
import { CsvPreview, CsvRefusal } from "./csv-preview.tsx";
import { CALLS } from "./queries.ts";
import { immediately, ScheduleFields, scheduleBody } from "./schedule-fields.tsx";
import { textOfFile } from "./text-of-file.ts";

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

/** The fields at which the form shows an error; other errors concern rows. */
const FIELDS = /^(agent_id|from_mobile_number|voicemail|start_at|window|retries)(\.|$)/;

function BatchForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [setup, setSetup] = useCallSetup();
  const [schedule, setSchedule] = useState(immediately);
  const check = useMutation({
    mutationFn: async (file: File) => {
      const csv = await textOfFile(file);
      return { csv, checked: await ask(api.POST("/v1/public/call-batches/check", { body: { csv } })) };
    },
  });
  const make = useMutation({
    mutationFn: (csv: string) =>
      ask(api.POST("/v1/public/call-batches", { body: { ...setupBody(setup), ...scheduleBody(schedule), csv } })),
    onSuccess: async () => {
      tellDone(schedule.startAt ? "Batch scheduled" : "Batch started");
      onDone();
      await client.invalidateQueries({ queryKey: CALLS });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (check.data) make.mutate(check.data.csv);
  };
  const choose = (file: File | undefined) => {
    make.reset();
    check.reset();
    if (file) check.mutate(file);
  };
  const errors = fieldsOf(make.error);
  const isAtField = errors.keys().some((path) => FIELDS.test(path));
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
            onChange={(event) => choose(event.target.files?.[0])}
          />
        )}
      </Field>
      {check.isPending && <Skeleton className="h-24" />}
      {check.error && <CsvRefusal error={check.error} />}
      {check.data && <CsvPreview checked={check.data.checked} />}
      <CallFields setup={setup} onChange={setSetup} errors={errors} />
      <ScheduleFields schedule={schedule} onChange={setSchedule} errors={errors} />
      {make.error && !isAtField && <CsvRefusal error={make.error} />}
      <FormActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          busy={make.isPending}
          disabled={setup.agentId === "" || !check.isSuccess}
        >
          {schedule.startAt ? "Schedule calls" : "Start calling"}
        </Button>
      </FormActions>
    </form>
  );
}
