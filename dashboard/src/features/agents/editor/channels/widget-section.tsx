import { useState } from "react";
import type { Schema } from "../../../../api/client.ts";
import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { LinesField, SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import type { AgentDraft } from "../draft.ts";
import { Snippet } from "./snippet.tsx";

type Widget = Schema["WidgetConfig"];
type TextName = "title" | "subtitle" | "greeting" | "placeholder" | "primary_color" | "avatar_url";

const TEXTS: readonly { name: TextName; label: string; placeholder: string }[] = [
  { name: "title", label: "Title", placeholder: "The agent's name" },
  { name: "subtitle", label: "Subtitle", placeholder: "No subtitle" },
  { name: "greeting", label: "Greeting", placeholder: "No greeting" },
  { name: "placeholder", label: "Placeholder text", placeholder: "Write a message" },
  { name: "primary_color", label: "Color", placeholder: "#1F5EFF" },
  { name: "avatar_url", label: "Avatar URL", placeholder: "No picture" },
];
const POSITIONS = [
  { value: "bottom-right", label: "Bottom right" },
  { value: "bottom-left", label: "Bottom left" },
];

/** The chat on the owner's own pages: which pages may show it, how it looks, and what to put on them. */
export function WidgetSection({ draft: { agent, values, set, errorAt } }: { draft: AgentDraft }) {
  const [isTyping, setTyping] = useState(false);
  const widget = values.widget_config ?? {};
  const origins = widget.allowed_origins ?? [];
  const change = (changed: Widget) => {
    const given = Object.entries({ ...widget, ...changed }).filter(([, value]) => value !== null && value !== "");
    set({ widget_config: Object.fromEntries(given) });
  };
  return (
    <Section title="Website chat" description="Adds a chat window to your website. Visitors do not need an API key.">
      <LinesField
        label="Allowed origins"
        hint="One origin per line, for example https://shop.example. If the list is empty, no website can show the chat."
        error={errorAt("widget_config.allowed_origins") ?? (isTyping ? undefined : originFault(origins))}
        value={origins}
        placeholder="https://www.example.com"
        onFocus={() => setTyping(true)}
        onBlur={() => setTyping(false)}
        onChange={(allowed_origins) => change({ allowed_origins })}
      />
      {origins.length > 0 && (
        <>
          <Snippet text={scriptTag(agent.id)} what="script tag" />
          <div className="grid gap-5 sm:grid-cols-2">
            {TEXTS.map(({ name, label, placeholder }) => (
              <TextField
                key={name}
                label={label}
                optional
                error={errorAt(`widget_config.${name}`)}
                placeholder={placeholder}
                value={widget[name] ?? ""}
                onChange={(event) => change({ [name]: event.target.value })}
              />
            ))}
            <SelectField
              label="Position"
              error={errorAt("widget_config.position")}
              value={widget.position ?? "bottom-right"}
              onChange={(position) => change({ position: position as NonNullable<Widget["position"]> })}
              options={POSITIONS}
            />
          </div>
          <LinesField
            label="Suggested messages"
            optional
            hint="One per line, up to 5. Visitors send them with one click."
            error={errorAt("widget_config.suggested_messages")}
            value={widget.suggested_messages ?? []}
            placeholder="When are you open?"
            onChange={(suggested_messages) => change({ suggested_messages })}
          />
          <Checkbox
            checked={widget.show_sources ?? false}
            onChange={(show_sources) => change({ show_sources })}
            label="Show sources"
            hint={
              errorAt("widget_config.show_sources") ?? "Visitors see the names of the documents that a reply is from."
            }
          />
        </>
      )}
    </Section>
  );
}

/** What the API will refuse, in the words of this page. */
function originFault(origins: readonly string[]): string | undefined {
  const wrong = origins.find((origin) => !isOrigin(origin));
  return wrong && `“${wrong}” is not an origin. Write it like https://shop.example, without a path.`;
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname.includes("*")) return false;
  return url.href === `${url.origin}/` && !/[?#]/.test(text);
}

function scriptTag(agentId: string): string {
  return `<script src="${location.origin}/widget.js" data-agent="${agentId}" async></script>`;
}
