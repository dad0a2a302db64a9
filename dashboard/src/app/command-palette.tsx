import "./shared.ts";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Bot, KeyRound, type LucideIcon, Plus } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { read } from "../api/client.ts";
import { distinctNames } from "../features/agents/distinct-names.ts";
import { Modal } from "../ui/overlay/modal.tsx";
import { Presence } from "../ui/overlay/presence.tsx";
import { afterPaint } from "../ui/painted.ts";
import { DESTINATIONS } from "./navigation.ts";
import type { TypedEarly } from "./typed-early.ts";

const LABEL = "Search or jump to";
const FOUND_MAX = 8;

/**
 * A field that finds every page, agent and frequent action by a few letters.
 * @param typed has what was typed before the field is there
 */
export function CommandPalette({ open, onClose, typed }: { open: boolean; onClose: () => void; typed: TypedEarly }) {
  return (
    <Presence open={open} onClose={onClose}>
      {(isShown, opener) => (
        <Modal
          isShown={isShown}
          onClose={onClose}
          opener={opener}
          aria-label={LABEL}
          className="top-[14vh] left-1/2 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-raised shadow-2xl"
        >
          <Palette isShown={isShown} onClose={onClose} typed={typed} />
        </Modal>
      )}
    </Presence>
  );
}

function Palette({ isShown, onClose, typed }: { isShown: boolean; onClose: () => void; typed: TypedEarly }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!isShown) return;
    field.current?.focus();
    const early = typed.take();
    if (early !== "") setText((before) => before + early);
  }, [isShown, typed]);
  const navigate = useNavigate();
  const agents = useQuery({
    queryKey: ["agents", "palette", text],
    queryFn: ({ signal }) => read(signal, "/v1/public/agents", { query: { search: text, page_size: FOUND_MAX } }),
    enabled: text.trim() !== "",
    placeholderData: (before) => before,
  });
  const go = (to: string, search = {}) => {
    onClose();
    void afterPaint(() => navigate({ to, search }));
  };
  const found = text.trim() === "" ? [] : (agents.data?.agents ?? []);
  return (
    <Command label={LABEL}>
      <Command.Input
        ref={field}
        value={text}
        onValueChange={setText}
        placeholder="Search agents, pages, and actions…"
        className="h-12 w-full border-b border-line bg-transparent px-4 text-[0.9375rem] outline-none"
      />
      <Command.List className="max-h-80 overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted">
        <Command.Empty className="px-3 py-8 text-center text-muted">
          {agents.isFetching ? "Searching…" : "No results."}
        </Command.Empty>
        {found.length > 0 && (
          <Command.Group heading="Agents">
            {[...distinctNames(found)].map(([id, name]) => (
              <Entry key={id} value={`${name} ${id}`} icon={Bot} onSelect={() => go(`/agents/${id}`)}>
                {name}
              </Entry>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Pages">
          {DESTINATIONS.map(({ to, label, icon }) => (
            <Entry key={to} value={label} icon={icon} onSelect={() => go(to)}>
              {label}
            </Entry>
          ))}
        </Command.Group>
        <Command.Group heading="Actions">
          <Entry value="New agent" icon={Plus} onSelect={() => go("/agents", { new: true })}>
            New agent
          </Entry>
          <Entry value="New tool" icon={Plus} onSelect={() => go("/tools", { new: true })}>
            New tool
          </Entry>
          <Entry value="New API key" icon={KeyRound} onSelect={() => go("/keys", { new: true })}>
            New API key
          </Entry>
        </Command.Group>
      </Command.List>
    </Command>
  );
}

function Entry({
  value,
  icon: Icon,
  onSelect,
  children,
}: {
  value: string;
  icon: LucideIcon;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex cursor-default items-center gap-2.5 rounded-md px-2.5 py-2 select-none data-[selected=true]:bg-hover"
    >
      <Icon className="size-4 shrink-0 text-muted" aria-hidden />
      <span className="truncate">{children}</span>
    </Command.Item>
  );
}
