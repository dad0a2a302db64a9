import {
  BellRing,
  BookOpen,
  Bot,
  ChartColumn,
  Hash,
  House,
  KeyRound,
  LockKeyhole,
  type LucideIcon,
  MessagesSquare,
  Phone,
  ScrollText,
  Settings,
  Webhook,
  Wrench,
} from "lucide-react";

export interface Destination {
  to: string;
  label: string;
  icon: LucideIcon;
}

/** The navigation's groups in their order. A page becomes reachable by its line here and its route in `routes.tsx`. */
export const NAVIGATION: readonly { label: string | null; destinations: readonly Destination[] }[] = [
  { label: null, destinations: [{ to: "/", label: "Overview", icon: House }] },
  {
    label: "Build",
    destinations: [
      { to: "/agents", label: "Agents", icon: Bot },
      { to: "/prompts", label: "Prompts", icon: ScrollText },
      { to: "/tools", label: "Tools", icon: Wrench },
      { to: "/knowledge", label: "Knowledge", icon: BookOpen },
    ],
  },
  {
    label: "Observe",
    destinations: [
      { to: "/conversations", label: "Conversations", icon: MessagesSquare },
      { to: "/calls", label: "Calls", icon: Phone },
      { to: "/alerts", label: "Alerts", icon: BellRing },
    ],
  },
  {
    label: "Manage",
    destinations: [
      { to: "/numbers", label: "Numbers & carriers", icon: Hash },
      { to: "/webhooks", label: "Webhooks", icon: Webhook },
      { to: "/keys", label: "API keys", icon: KeyRound },
      { to: "/secrets", label: "Secrets", icon: LockKeyhole },
      { to: "/usage", label: "Usage", icon: ChartColumn },
      { to: "/settings", label: "Settings", icon: Settings },
    ],
  },
];

export const DESTINATIONS = NAVIGATION.flatMap(({ destinations }) => destinations);
