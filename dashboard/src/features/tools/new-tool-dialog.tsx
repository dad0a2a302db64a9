import { Link } from "@tanstack/react-router";
import { Globe, type LucideIcon, MonitorSmartphone, Server } from "lucide-react";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { TOOL_TYPES, type ToolType } from "./tools.ts";

const ICONS: Readonly<Record<ToolType, LucideIcon>> = { http: Globe, client: MonitorSmartphone, mcp: Server };

/** Asks what kind of tool to make, which cannot change later. */
export function NewToolDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New tool" description="Choose who carries out its calls.">
      <ul className="flex flex-col gap-2">
        {TOOL_TYPES.map(({ value, label, about }) => {
          const Icon = ICONS[value];
          return (
            <li key={value}>
              <Link
                to="/tools/new"
                search={{ type: value }}
                className="flex items-start gap-3 rounded-lg border border-line p-4 hover:bg-hover"
              >
                <Icon className="mt-0.5 size-5 shrink-0 text-muted" aria-hidden />
                <span className="min-w-0">
                  <span className="block font-medium">{label}</span>
                  <span className="block text-muted">{about}</span>
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
