import { DEFAULT_EVENTS } from "@parley/shared/portable/events";
import { useState } from "react";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { SelectField, TextField } from "../../ui/form/fields.tsx";
import { EventChoice } from "./event-choice.tsx";
import type { Destination } from "./queries.ts";

export type DestinationFields = Pick<Destination, "name" | "url" | "request_type" | "retry_schedule" | "events">;

const METHODS = [
  { value: "POST", label: "POST", hint: "recommended" },
  { value: "PUT", label: "PUT" },
  { value: "PATCH", label: "PATCH" },
  { value: "GET", label: "GET", hint: "small payloads only" },
] as const;
const SCHEDULES = [
  { value: "standard", label: "4 attempts, 10 seconds apart" },
  { value: "extended", label: "8 attempts over 24 hours" },
] as const;
const NEW: DestinationFields = {
  name: "",
  url: "",
  request_type: "POST",
  retry_schedule: "standard",
  events: [...DEFAULT_EVENTS],
};

/** The fields of a webhook. @param write the result of `useMutation` for saving them */
export function DestinationForm({
  before = NEW,
  action,
  write,
  onCancel,
}: {
  before?: DestinationFields;
  action: string;
  write: { mutate(fields: DestinationFields): void; isPending: boolean; error: Error | null };
  onCancel: () => void;
}) {
  const [fields, setFields] = useState(before);
  const errors = fieldsOf(write.error);
  const submit = () => {
    const { name, url, request_type, retry_schedule, events } = fields;
    write.mutate({ name: name.trim(), url: url.trim(), request_type, retry_schedule, events });
  };
  return (
    <DialogForm onSubmit={submit} busy={write.isPending} error={write.error} action={action} onCancel={onCancel}>
      <TextField
        label="Name"
        error={errors.get("name")}
        required
        maxLength={100}
        placeholder="Production"
        value={fields.name}
        onChange={(event) => setFields({ ...fields, name: event.target.value })}
      />
      <TextField
        label="URL"
        hint="A public URL that starts with https://, or one that this server's operator allows."
        error={errors.get("url")}
        required
        inputMode="url"
        maxLength={2048}
        placeholder="https://hooks.example.com/parley"
        value={fields.url}
        onChange={(event) => setFields({ ...fields, url: event.target.value })}
      />
      <SelectField
        label="Method"
        error={errors.get("request_type")}
        value={fields.request_type}
        onChange={(value) => setFields({ ...fields, request_type: value as DestinationFields["request_type"] })}
        options={METHODS}
      />
      <SelectField
        label="Attempts"
        hint="How often an event is sent until your server accepts it."
        error={errors.get("retry_schedule")}
        value={fields.retry_schedule}
        onChange={(value) => setFields({ ...fields, retry_schedule: value as DestinationFields["retry_schedule"] })}
        options={SCHEDULES}
      />
      <EventChoice
        events={fields.events}
        onChange={(events) => setFields({ ...fields, events })}
        error={errors.get("events")}
      />
    </DialogForm>
  );
}
