import type { Schema } from "../../api/client.ts";
import { Checkbox } from "../../ui/form/checkbox.tsx";
import { SelectField, TextField } from "../../ui/form/fields.tsx";
import { timeZoneOptions } from "../../ui/form/time-zones.ts";

/** When a batch calls, in the form's values. Texts are "" and numbers of retries 0 for what is not chosen. */
export interface Schedule {
  /** The viewer's local time, such as `2026-01-31T09:30`. */
  startAt: string;
  hasWindow: boolean;
  from: string;
  to: string;
  timezone: string;
  retries: number;
  afterMinutes: number;
  afterErrors: boolean;
}

/** A schedule that calls immediately. */
export function immediately(): Schedule {
  return {
    startAt: "",
    hasWindow: false,
    from: "09:00",
    to: "17:00",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    retries: 0,
    afterMinutes: 60,
    afterErrors: false,
  };
}

const RETRIES = [
  { value: "0", label: "Never" },
  { value: "1", label: "Once" },
  { value: "2", label: "Twice" },
  { value: "3", label: "Three times" },
];

export function ScheduleFields({
  schedule,
  onChange,
  errors,
}: {
  schedule: Schedule;
  onChange: (schedule: Schedule) => void;
  errors: ReadonlyMap<string, string>;
}) {
  const set = (changed: Partial<Schedule>) => onChange({ ...schedule, ...changed });
  return (
    <>
      <TextField
        label="Start"
        optional
        hint="In your local time. Leave empty to start immediately."
        error={errors.get("start_at")}
        type="datetime-local"
        controlClass="max-w-64"
        value={schedule.startAt}
        onChange={(event) => set({ startAt: event.target.value })}
      />
      <Checkbox
        checked={schedule.hasWindow}
        onChange={(hasWindow) => set({ hasWindow })}
        label="Call only during certain hours"
        hint="Calls that are in progress when the hours end continue."
      />
      {schedule.hasWindow && (
        <div className="grid gap-4 rounded-lg border border-line p-3 sm:grid-cols-[7rem_7rem_minmax(0,1fr)]">
          <TextField
            label="From"
            error={errors.get("window.from_time")}
            type="time"
            required
            value={schedule.from}
            onChange={(event) => set({ from: event.target.value })}
          />
          <TextField
            label="Until"
            error={errors.get("window.to_time") ?? errors.get("window")}
            type="time"
            required
            value={schedule.to}
            onChange={(event) => set({ to: event.target.value })}
          />
          <SelectField
            label="Time zone"
            error={errors.get("window.timezone")}
            value={schedule.timezone}
            onChange={(timezone) => set({ timezone })}
            options={timeZoneOptions(schedule.timezone)}
          />
        </div>
      )}
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          label="Call again if busy or unanswered"
          error={errors.get("retries.max") ?? errors.get("retries")}
          value={String(schedule.retries)}
          onChange={(retries) => set({ retries: Number(retries) })}
          options={RETRIES}
        />
        {schedule.retries > 0 && (
          <TextField
            label="Minutes between attempts"
            error={errors.get("retries.after_minutes")}
            type="number"
            required
            min={1}
            value={schedule.afterMinutes}
            onChange={(event) => set({ afterMinutes: Number(event.target.value) })}
          />
        )}
      </div>
      {schedule.retries > 0 && (
        <Checkbox
          checked={schedule.afterErrors}
          onChange={(afterErrors) => set({ afterErrors })}
          label="Call again after an error"
          hint="The carrier or Parley failed, perhaps when the conversation had begun."
        />
      )}
    </>
  );
}

/** A browser may be in a zone under a name that it does not list. */
/** The same in the form of the API. */
export function scheduleBody(
  schedule: Schedule,
): Pick<Schema["CreateCallBatchRequest"], "start_at" | "window" | "retries"> {
  const { startAt, hasWindow, from, to, timezone, retries, afterMinutes, afterErrors } = schedule;
  const on: NonNullable<Schema["CreateCallBatchRequest"]["retries"]>["on"] = ["busy", "no_answer"];
  if (afterErrors) on.push("error");
  return {
    ...(startAt && { start_at: new Date(startAt).toISOString() }),
    ...(hasWindow && { window: { from_time: from, to_time: to, timezone } }),
    ...(retries > 0 && { retries: { max: retries, after_minutes: afterMinutes, on } }),
  };
}
