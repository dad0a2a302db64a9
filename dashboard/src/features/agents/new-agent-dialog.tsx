import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { RadioGroup } from "radix-ui";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Notice } from "../../ui/states.tsx";
import { AGENTS, agentQuery, modelSetupQuery } from "./agents.ts";
import { TEMPLATES, type Template } from "./templates.ts";

/** Makes an agent from a template and opens it, beside a chat with it. */
export function NewAgentDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New agent" description="You can change everything later." size="large">
      <NewAgentForm onCancel={onClose} />
    </Dialog>
  );
}

function NewAgentForm({ onCancel }: { onCancel: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const setup = useQuery(modelSetupQuery);
  const [template, setTemplate] = useState<Template>(TEMPLATES[0] as Template);
  const [typedName, setTypedName] = useState<string | null>(null);
  const name = typedName ?? template.agentName;
  const make = useMutation({
    mutationFn: async () => {
      const { default_llm } = await client.ensureQueryData(modelSetupQuery);
      const { agentType, greeting, prompt } = template;
      return api.POST("/v1/public/agents", {
        body: {
          agent_name: name.trim(),
          agent_type: agentType,
          prompt_content: prompt,
          first_message_prompt: greeting || null,
          llm: default_llm as never,
        },
      });
    },
    onSuccess: async (agent) => {
      client.setQueryData(agentQuery(agent.id).queryKey, agent);
      await navigate({ to: "/agents/$agentId", params: { agentId: agent.id }, search: { try: "chat" } });
      await client.invalidateQueries({ queryKey: AGENTS });
    },
  });
  return (
    <DialogForm
      onSubmit={() => make.mutate()}
      busy={make.isPending}
      error={make.error}
      action="Create agent"
      onCancel={onCancel}
    >
      <TextField
        label="Name"
        error={fieldsOf(make.error).get("agent_name")}
        required
        maxLength={100}
        value={name}
        onChange={(event) => setTypedName(event.target.value)}
      />
      <fieldset>
        <legend className="mb-2 font-medium">Template</legend>
        <RadioGroup.Root
          aria-label="Template"
          value={template.name}
          onValueChange={(value) => setTemplate(TEMPLATES.find((each) => each.name === value) ?? template)}
          className="grid gap-2 sm:grid-cols-2"
        >
          {TEMPLATES.map((each) => (
            <RadioGroup.Item
              key={each.name}
              value={each.name}
              className={clsx(
                "flex flex-col rounded-lg border p-3.5 text-left",
                each === template ? "border-accent-ink bg-accent-soft" : "border-line hover:bg-hover",
              )}
            >
              <span className="block font-medium">{each.name}</span>
              <span className="mt-0.5 block text-[0.8125rem] text-muted">{each.description}</span>
            </RadioGroup.Item>
          ))}
        </RadioGroup.Root>
      </fieldset>
      {setup.data && !setup.data.default_llm && (
        <Notice tone="warning">
          This server has no API key of a provider of language models, so the agent is created without one. Ask its
          operator to set one, such as{" "}
          <code className="font-mono text-[0.8125rem]">{setup.data.llm[0]?.key_variable}</code>, or enter a model of
          your own under Models.
        </Notice>
      )}
    </DialogForm>
  );
}
