import { Link } from "@tanstack/react-router";
import { Badge } from "../../../ui/badge.tsx";
import { CopyButton } from "../../../ui/copy.tsx";
import { Checkbox } from "../../../ui/form/checkbox.tsx";
import { FieldError } from "../../../ui/form/field.tsx";
import type { ImportedTool } from "./imported.ts";
import type { Creation } from "./use-creating.ts";

/** An operation that can be chosen, or what has become of it. */
export function Operation({
  tool: { name, description, method, url },
  creation,
  isChosen,
  onChoose,
}: {
  tool: ImportedTool;
  creation: Creation | undefined;
  isChosen: boolean;
  onChoose: (on: boolean) => void;
}) {
  const about = (
    <span className="block text-[0.8125rem] text-muted wrap-anywhere">
      <span className="block font-mono text-xs">
        {method} {url}
      </span>
      <span className="line-clamp-2">{description.split("\n", 1)[0]}</span>
    </span>
  );
  if (creation?.state === "created")
    return (
      <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div className="min-w-0 flex-1 basis-56">
          <Link
            to="/tools/$toolId"
            params={{ toolId: creation.id }}
            search={{}}
            className="font-mono text-[0.8125rem] font-medium wrap-anywhere hover:underline"
          >
            {name}
          </Link>
          {about}
        </div>
        <span className="flex items-center gap-2">
          <Badge tone="success">Created</Badge>
          {creation.secret && <CopyButton text={creation.secret} what={`signing secret of ${name}`} words />}
        </span>
      </li>
    );
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-56">
        <Checkbox
          checked={isChosen}
          onChange={onChoose}
          label={<span className="font-mono text-[0.8125rem] font-medium wrap-anywhere">{name}</span>}
          hint={about}
        />
      </div>
      {creation?.state === "creating" && <Badge tone="accent">Creating</Badge>}
      <FieldError className="w-full pl-6.5">{creation?.state === "failed" && creation.reason}</FieldError>
    </li>
  );
}
