import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, Play } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Section, Sections } from "../../../ui/form/section.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { ErrorState, LoadingRows } from "../../../ui/states.tsx";
import { JsonView } from "../../conversations/json-view.tsx";
import type { Agent } from "../agents.ts";
import { ChangeList } from "./change-list.tsx";
import { FigureTable } from "./figure-table.tsx";
import { publishWord } from "./publish-dialog.tsx";
import { comparisonQuery, diffQuery, type Pair, trafficQuery, versionNumbers, versionQuery } from "./versions.ts";

/** Two versions: what changed from one to the other, and how their conversations go. */
export function Comparison({
  agent,
  version,
  against: chosen,
  onChange,
  onClose,
  onTry,
  onPublish,
}: {
  agent: Agent;
  version: number;
  /** Undefined until one is chosen. */
  against: number | undefined;
  onChange: (pair: { version: number; against: number }) => void;
  onClose: () => void;
  onTry: (version: number) => void;
  onPublish: (version: number) => void;
}) {
  const against = chosen ?? comparedTo(agent, version);
  const split = useQuery(trafficQuery(agent.id)).data;
  const isAlone = split?.length === 1 && split[0]?.agent_version === version;
  const numbers = versionNumbers(agent, [version, ...(against === undefined ? [] : [against])]);
  const options = numbers.map((number) => ({
    value: String(number),
    label: number === agent.published_version ? `Version ${number} (published)` : `Version ${number}`,
  }));
  return (
    <div className="flex flex-col gap-6">
      <div className="flex flex-wrap items-center gap-2">
        <Button variant="ghost" onClick={onClose}>
          <ChevronLeft aria-hidden /> All versions
        </Button>
        {against !== undefined && (
          <span className="flex items-center gap-2 max-sm:order-last max-sm:basis-full">
            <Select
              quiet
              aria-label="From"
              className="flex-1 sm:w-44 sm:flex-none"
              value={String(against)}
              onChange={(value) => onChange({ version, against: Number(value) })}
              options={options}
            />
            <span className="text-muted">to</span>
            <Select
              quiet
              aria-label="To"
              className="flex-1 sm:w-44 sm:flex-none"
              value={String(version)}
              onChange={(value) => onChange({ version: Number(value), against })}
              options={options}
            />
          </span>
        )}
        <span className="ml-auto flex gap-2">
          <Button onClick={() => onTry(version)}>
            <Play aria-hidden /> Try
          </Button>
          {!isAlone && (
            <Button variant="primary" onClick={() => onPublish(version)}>
              {publishWord(agent, version)}
            </Button>
          )}
        </span>
      </div>
      {against === undefined ? (
        <p className="text-muted">
          Version {version} is the only one. Save a change to have another to compare it with.
        </p>
      ) : against === version ? (
        <p className="text-muted">Choose two different versions.</p>
      ) : (
        <Sections>
          <Changes pair={{ agentId: agent.id, from: against, to: version }} />
          <FiguresOf pair={{ agentId: agent.id, from: against, to: version }} />
        </Sections>
      )}
      <Settings key={version} agentId={agent.id} version={version} />
    </div>
  );
}

/** The version that another is compared to first: the published one, else the one before or the newest; undefined if it is the only one. */
function comparedTo({ published_version: published, latest_version: latest }: Agent, version: number) {
  if (published !== null && published !== version) return published;
  if (version > 1) return version - 1;
  return latest > 1 ? latest : undefined;
}

function Changes({ pair }: { pair: Pair }) {
  const diff = useQuery(diffQuery(pair));
  return (
    <Section title="What changed" description={`From version ${pair.from} to version ${pair.to}.`}>
      {diff.isPending ? (
        <LoadingRows rows={2} />
      ) : diff.isLoadingError ? (
        <ErrorState error={diff.error} onRetry={diff.refetch} />
      ) : diff.data.changes.length === 0 ? (
        <p>Both versions have the same settings.</p>
      ) : (
        <ChangeList changes={diff.data.changes} pair={pair} />
      )}
    </Section>
  );
}

function Settings({ agentId, version }: { agentId: string; version: number }) {
  const [isShown, setShown] = useState(false);
  const settings = useQuery({ ...versionQuery(agentId, version), enabled: isShown });
  return (
    <Section
      title={`All of version ${version}`}
      description="Its settings, prompts and tools, as the API has them."
      actions={!isShown && <Button onClick={() => setShown(true)}>Show as JSON</Button>}
    >
      {isShown &&
        (settings.data ? (
          <JsonView value={settings.data} />
        ) : settings.isLoadingError ? (
          <ErrorState error={settings.error} onRetry={settings.refetch} />
        ) : (
          <LoadingRows />
        ))}
    </Section>
  );
}

const PERIODS = [
  { value: "all", label: "All conversations" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
];

function FiguresOf({ pair }: { pair: Pair }) {
  const [period, setPeriod] = useState("all");
  const comparison = useQuery(comparisonQuery(pair, period === "all" ? null : Number(period)));
  return (
    <Section
      title="Figures"
      description="Without tests. Times and costs have no verdict; shares and means have one with a confidence of 95%."
      actions={
        <div className="w-44">
          <Select quiet aria-label="Period" value={period} onChange={setPeriod} options={PERIODS} />
        </div>
      }
    >
      {comparison.isPending ? (
        <LoadingRows rows={4} />
      ) : comparison.isLoadingError ? (
        <ErrorState error={comparison.error} onRetry={comparison.refetch} />
      ) : (
        <FigureTable comparison={comparison.data} />
      )}
    </Section>
  );
}
