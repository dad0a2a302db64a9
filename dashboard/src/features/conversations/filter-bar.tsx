import { useQuery } from "@tanstack/react-query";
import { CalendarDays, ListFilter, X } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { SearchInput } from "../../ui/form/search-input.tsx";
import { LOCALE } from "../../ui/locale.ts";
import { onFirstUse } from "../../ui/numbers.ts";
import type { Trigger } from "../../ui/overlay/closed-trigger.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { Popover } from "../../ui/overlay/popover.tsx";
import { useShownFirst } from "../../ui/painted.ts";
import { agentNamesQuery, agentQuery } from "../agents/agents.ts";
import { versionNumbers } from "../agents/versions/versions.ts";
import { dayOf, type Filters, isFiltered } from "./filters.ts";
import { CHANNELS, DIRECTIONS, STATUSES } from "./names.tsx";

interface ChoiceFilter {
  name: "conversation_type" | "conversation_status" | "calling_type";
  label: string;
  options: readonly { value: string; label: string }[];
}

const labelled = (words: Record<string, { label: string }>) =>
  Object.entries(words).map(([value, { label }]) => ({ value, label }));

/** The filters that are one of a few words. */
const CHOICES: readonly ChoiceFilter[] = [
  { name: "conversation_status", label: "Status", options: labelled(STATUSES) },
  { name: "conversation_type", label: "Channel", options: labelled(CHANNELS) },
  {
    name: "calling_type",
    label: "Direction",
    options: Object.entries(DIRECTIONS).map(([value, label]) => ({ value, label })),
  },
];

const TESTS = [
  { value: "false", label: "Without tests" },
  { value: "true", label: "Only tests" },
];

/** The list's filters as chips: each shows its value, and removes it again. */
export function FilterBar({
  filters: found,
  onChange: find,
}: {
  filters: Filters;
  onChange: (filters: Filters) => void;
}) {
  const [filters, onChange] = useShownFirst(found, find);
  const names = useQuery(agentNamesQuery).data?.byId ?? [];
  const set = (name: keyof Filters, value: string | number | boolean | undefined) => {
    const { [name]: _, page: __, ...rest } = filters;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  const search = (text: string) => set("search", text || undefined);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchInput label="Search what was said" value={filters.search ?? ""} onChange={search} />
      <div className="flex flex-wrap items-center gap-2">
        {CHOICES.map(({ name, label, options }) => (
          <Choice
            key={name}
            label={label}
            options={options}
            value={filters[name]}
            onChange={(value) => set(name, value)}
          />
        ))}
        <Choice
          label="Tests"
          options={TESTS}
          value={filters.is_test_call?.toString()}
          onChange={(value) => set("is_test_call", value === undefined ? value : value === "true")}
        />
        <Choice
          label="Agent"
          options={[...names].map(([value, name]) => ({ value, label: name }))}
          value={filters.agent_id}
          onChange={(value) => {
            const { agent_id: _, agent_version: __, page: ___, ...rest } = filters;
            onChange(value === undefined ? rest : { ...rest, agent_id: value });
          }}
        />
        {filters.agent_id !== undefined && (
          <VersionFilter
            agentId={filters.agent_id}
            version={filters.agent_version}
            onChange={(version) => set("agent_version", version)}
          />
        )}
        <PeriodFilter
          from={filters.from_date}
          to={filters.to_date}
          onChange={(period) => {
            const { from_date: _, to_date: __, page: ___, ...rest } = filters;
            onChange({ ...rest, ...period });
          }}
        />
        {isFiltered(filters) && (
          <Button variant="ghost" size="small" onClick={() => onChange({})}>
            Clear all
          </Button>
        )}
      </div>
    </search>
  );
}

function Choice({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { value: string; label: string }[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const shown = options.find((option) => option.value === value)?.label ?? value;
  return (
    <Chip label={label} value={shown} onClear={() => onChange(undefined)}>
      {(trigger) => (
        <Menu align="start" trigger={trigger}>
          <div className="max-h-72 overflow-y-auto">
            {options.length === 0 && <p className="px-2.5 py-1.5 text-muted">No options yet.</p>}
            {options.map((option) => (
              <MenuItem key={option.value} onSelect={() => onChange(option.value)}>
                <span className="max-w-64 truncate">{option.label}</span>
              </MenuItem>
            ))}
          </div>
        </Menu>
      )}
    </Chip>
  );
}

function VersionFilter({
  agentId,
  version,
  onChange,
}: {
  agentId: string;
  version: number | undefined;
  onChange: (version: number | undefined) => void;
}) {
  const agent = useQuery(agentQuery(agentId)).data;
  return (
    <Choice
      label="Version"
      options={(agent ? versionNumbers(agent) : []).map((number) => ({ value: String(number), label: String(number) }))}
      value={version?.toString()}
      onChange={(value) => onChange(value === undefined ? undefined : Number(value))}
    />
  );
}

/** A filter's button, and beside it the one that removes its value. */
function Chip({
  label,
  value,
  icon: Icon = ListFilter,
  onClear,
  children,
}: {
  label: string;
  value: string | undefined;
  icon?: typeof ListFilter;
  onClear: () => void;
  children: (trigger: Trigger) => ReactNode;
}) {
  const trigger =
    value === undefined ? (
      <Button size="small" className="border-dashed text-muted shadow-none">
        <Icon aria-hidden /> {label}
      </Button>
    ) : (
      <Button size="small" className="max-w-72 rounded-r-none border-accent-ink/40! bg-accent-soft! text-accent-ink!">
        <span className="truncate">
          <span className="font-normal">{label}:</span> {value}
        </span>
      </Button>
    );
  return (
    <span className="inline-flex">
      {children(trigger)}
      {value !== undefined && (
        <Button
          size="small"
          aria-label={`Remove filter: ${label}`}
          className="-ml-px rounded-l-none border-accent-ink/40! bg-accent-soft! px-1.5 text-accent-ink!"
          onClick={onClear}
        >
          <X aria-hidden />
        </Button>
      )}
    </span>
  );
}

const PERIODS = [
  { label: "Today", days: 1 },
  { label: "Last 7 days", days: 7 },
  { label: "Last 30 days", days: 30 },
];

interface Period {
  from_date?: string;
  to_date?: string;
}

function PeriodFilter({
  from,
  to,
  onChange,
}: {
  from: string | undefined;
  to: string | undefined;
  onChange: (period: Period) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const choose = (period: Period) => {
    setOpen(false);
    onChange(period);
  };
  return (
    <Chip label="Date" value={shownPeriod(from, to)} icon={CalendarDays} onClear={() => onChange({})}>
      {(trigger) => (
        <Popover label="Dates" trigger={trigger} open={isOpen} onOpenChange={setOpen}>
          <div className="flex flex-wrap gap-2">
            {PERIODS.map(({ label, days }) => (
              <Button key={label} size="small" onClick={() => choose({ from_date: daysAgo(days - 1) })}>
                {label}
              </Button>
            ))}
          </div>
          <DaysForm from={from} to={to} onChoose={choose} />
        </Popover>
      )}
    </Chip>
  );
}

function DaysForm({
  from,
  to,
  onChoose,
}: {
  from: string | undefined;
  to: string | undefined;
  onChoose: (period: Period) => void;
}) {
  const [first, setFirst] = useState(from ?? "");
  const [last, setLast] = useState(to ?? "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChoose({ ...(first && { from_date: first }), ...(last && { to_date: last }) });
  };
  return (
    <form onSubmit={submit} className="mt-3 flex flex-col gap-3 border-t border-line pt-3">
      <TextField label="From" type="date" value={first} onChange={(event) => setFirst(event.target.value)} />
      <TextField
        label="To"
        hint="Days of your time zone."
        type="date"
        value={last}
        onChange={(event) => setLast(event.target.value)}
      />
      <Button type="submit" variant="primary" size="small">
        Apply
      </Button>
    </form>
  );
}

function daysAgo(days: number): string {
  const now = new Date();
  return dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days));
}

const dayInUtc = onFirstUse(() => new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeZone: "UTC" }));

function shownPeriod(from: string | undefined, to: string | undefined): string | undefined {
  const shown = (day: string) => dayInUtc().format(new Date(day));
  if (from && to) return from === to ? shown(from) : `${shown(from)} – ${shown(to)}`;
  if (from) return `since ${shown(from)}`;
  return to ? `until ${shown(to)}` : undefined;
}
