import { EVENT_NAMES, EVENTS, type EventName } from "@parley/shared/portable/events";
import { Checkbox } from "../../ui/form/checkbox.tsx";
import { FieldError } from "../../ui/form/field.tsx";

/** Which events a webhook gets, at least one. */
export function EventChoice({
  events,
  onChange,
  error,
}: {
  events: readonly EventName[];
  onChange: (events: EventName[]) => void;
  error: string | undefined;
}) {
  const choose = (event: EventName, isChosen: boolean) =>
    onChange(EVENT_NAMES.filter((each) => (each === event ? isChosen : events.includes(each))));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2.5">
      <legend className="mb-1.5 font-medium">Events</legend>
      {EVENT_NAMES.map((event) => (
        <Checkbox
          key={event}
          checked={events.includes(event)}
          onChange={(isChosen) => choose(event, isChosen)}
          label={<span className="font-mono text-[0.8125rem]">{event}</span>}
          hint={EVENTS[event].what}
        />
      ))}
      <FieldError>{error || (events.length === 0 && "Choose at least one event.")}</FieldError>
    </fieldset>
  );
}
