import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { Field } from "../../ui/form/field.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { FileDrop } from "../../ui/form/file-drop.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { CallFields, setupBody, useCallSetup, useCanCall } from "./call-fields.tsx";
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

const NAME_MAX = 100;
const SAMPLE = "to_mobile_number,customer_name\n+14155550188,Ada\n+14155550189,Bob\n";
const SAMPLE_ADDRESS = `data:text/csv;charset=utf-8,${encodeURIComponent(SAMPLE)}`;

/** The batch's name: as typed, else that of the file. */
function named(typed: string, fileName = ""): { name?: string } {
  const name = (typed.trim() || fileName).slice(0, NAME_MAX);
  return name ? { name } : {};
}

/** The fields at which the form shows an error; other errors concern rows. */
const FIELDS = /^(name|agent_id|from_mobile_number|voicemail|start_at|window|retries)(\.|$)/;

function BatchForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [setup, setSetup] = useCallSetup();
  const [schedule, setSchedule] = useState(immediately);
  const [name, setName] = useState("");
  const check = useMutation({
    mutationFn: async (file: File) => {
      const csv = await textOfFile(file);
      return { csv, checked: await api.POST("/v1/public/call-batches/check", { body: { csv } }) };
    },
  });
  const fileName = check.variables?.name;
  const make = useMutation({
    mutationFn: (csv: string) =>
      api.POST("/v1/public/call-batches", {
        body: { ...named(name, fileName), ...setupBody(setup), ...scheduleBody(schedule), csv },
      }),
    onSuccess: async () => {
      tellDone(schedule.startAt ? "Batch scheduled" : "Batch started");
      onDone();
      await client.invalidateQueries({ queryKey: CALLS });
    },
  });
  const choose = (file: File | undefined) => {
    make.reset();
    check.reset();
    if (file) check.mutate(file);
  };
  const canCall = useCanCall(setup);
  const errors = fieldsOf(make.error);
  const isAtField = errors.keys().some((path) => FIELDS.test(path));
  return (
    <DialogForm
      onSubmit={() => check.data && make.mutate(check.data.csv)}
      busy={make.isPending}
      disabled={!canCall || !check.isSuccess}
      action={schedule.startAt ? "Schedule calls" : "Start calling"}
      onCancel={onDone}
    >
      <Field
        label="File"
        hint={
          <a href={SAMPLE_ADDRESS} download="sample.csv" className="text-accent-ink underline">
            Download a sample file
          </a>
        }
      >
        {(control) => (
          <FileDrop
            {...control}
            accept=".csv,text/csv"
            name={fileName}
            prompt="Drop a CSV file here, or choose one."
            onChoose={([file]) => choose(file)}
          />
        )}
      </Field>
      {check.isPending && <Skeleton className="h-24" />}
      {check.error && <CsvRefusal error={check.error} />}
      {check.data && <CsvPreview checked={check.data.checked} />}
      <TextField
        label="Name"
        optional
        error={errors.get("name")}
        maxLength={NAME_MAX}
        placeholder={fileName}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <CallFields setup={setup} onChange={setSetup} errors={errors} />
      <ScheduleFields schedule={schedule} onChange={setSchedule} errors={errors} />
      {make.error && !isAtField && <CsvRefusal error={make.error} />}
    </DialogForm>
  );
}
