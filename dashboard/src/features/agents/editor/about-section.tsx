import { Plus, X } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { LinesField, SelectField, TextField } from "../../../ui/form/fields.tsx";
import { Section } from "../../../ui/form/section.tsx";
import { AGENT_TYPES, type AgentType, type Changes } from "../agents.ts";
import type { AgentDraft } from "./draft.ts";

type Category = NonNullable<Changes["agent_category"]>;

/** The compiler refuses a category that is missing here, or that the API does not know. */
const CATEGORIES = Object.keys({
  "Customer Service": 0,
  Sales: 0,
  Scheduling: 0,
  Research: 0,
  Healthcare: 0,
  "Customer Success": 0,
  Education: 0,
  Finance: 0,
  HR: 0,
  Legal: 0,
  Productivity: 0,
  Creative: 0,
  "IT/DevOps": 0,
  "E-commerce": 0,
  Entertainment: 0,
  Travel: 0,
  Wellness: 0,
  Anime: 0,
  Cartoon: 0,
  Gaming: 0,
  Lifestyle: 0,
  other: 0,
} satisfies Record<Category, 0>);

/** What people know the agent by. Nothing of it reaches the model. */
export function AboutSection({ draft: { values, set, errorAt } }: { draft: AgentDraft }) {
  return (
    <Section title="About this agent">
      <div className="grid gap-5 sm:grid-cols-[1fr_12rem]">
        <TextField
          label="Name"
          error={errorAt("agent_name")}
          maxLength={100}
          value={values.agent_name ?? ""}
          onChange={(event) => set({ agent_name: event.target.value })}
        />
        <SelectField
          label="Type"
          error={errorAt("agent_type")}
          value={values.agent_type ?? "INBOUND"}
          onChange={(type) => set({ agent_type: type as AgentType })}
          options={AGENT_TYPES}
        />
        <TextField
          label="Description"
          optional
          error={errorAt("agent_description")}
          maxLength={500}
          value={values.agent_description ?? ""}
          onChange={(event) => set({ agent_description: event.target.value || null })}
        />
        <SelectField
          label="Category"
          error={errorAt("agent_category")}
          value={values.agent_category ?? "other"}
          onChange={(category) => set({ agent_category: category as Category })}
          options={CATEGORIES.map((value) => ({ value, label: value === "other" ? "Other" : value }))}
        />
      </div>
      <LinesField
        label="Tips"
        optional
        hint="For people who use the agent, one per line."
        error={errorAt("agent_tips")}
        value={values.agent_tips ?? []}
        onChange={(agent_tips) => set({ agent_tips })}
      />
      <Files files={values.MediaFiles ?? []} onChange={(MediaFiles) => set({ MediaFiles })} errorAt={errorAt} />
    </Section>
  );
}

type File = NonNullable<Changes["MediaFiles"]>[number];

function Files({
  files,
  onChange,
  errorAt,
}: {
  files: readonly File[];
  onChange: (files: File[]) => void;
  errorAt: AgentDraft["errorAt"];
}) {
  const change = (at: number, changed: Partial<File>) =>
    onChange(files.map((file, each) => (each === at ? { ...file, ...changed } : file)));
  return (
    <div className="flex flex-col gap-3">
      <h3 className="font-medium">
        Files
        <span className="block text-[0.8125rem] font-normal text-muted">Addresses of files that belong to it.</span>
      </h3>
      {files.map(({ fileType, mediaUrl }, at) => (
        <div key={at} className="relative grid gap-4 rounded-lg border border-line p-4 pr-12 sm:grid-cols-[12rem_1fr]">
          <TextField
            label="File type"
            error={errorAt(`MediaFiles.${at}.fileType`)}
            placeholder="image/png"
            value={fileType}
            onChange={(event) => change(at, { fileType: event.target.value })}
          />
          <TextField
            label="File URL"
            error={errorAt(`MediaFiles.${at}.mediaUrl`)}
            type="url"
            placeholder="https://cdn.example.com/floor-plan.png"
            value={mediaUrl}
            onChange={(event) => change(at, { mediaUrl: event.target.value })}
          />
          <Button
            variant="ghost"
            size="icon"
            aria-label={`Remove file ${at + 1}`}
            className="absolute top-2 right-2"
            onClick={() => onChange(files.toSpliced(at, 1))}
          >
            <X aria-hidden />
          </Button>
        </div>
      ))}
      <Button size="small" className="self-start" onClick={() => onChange([...files, { fileType: "", mediaUrl: "" }])}>
        <Plus aria-hidden /> Add file
      </Button>
    </div>
  );
}
