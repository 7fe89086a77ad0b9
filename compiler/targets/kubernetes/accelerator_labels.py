"""Which values of which node labels stand for an accelerator, where no rule gives them.

Sources are the vendors' device plugins and the clouds' own node labels.
"""

from __future__ import annotations

# GKE's names that do not follow `nvidia-tesla-<name>`.
GKE = {
    "H100": "nvidia-h100-80gb",
    "H100-MEGA": "nvidia-h100-mega-80gb",
    "H200": "nvidia-h200-141gb",
    "B200": "nvidia-b200",
    "GB200": "nvidia-gb200",
    "A100-80GB": "nvidia-a100-80gb",
    "L4": "nvidia-l4",
    "RTXPRO6000": "nvidia-rtx-pro-6000",
    **{
        name: f"nvidia-tesla-{name.lower()}" for name in ("A100", "K80", "P100", "P4", "T4", "V100")
    },
}

# What GPU feature discovery makes of the driver's product names. One model has several.
GFD = {
    "GB300": ["NVIDIA-GB300"],
    "GB200": ["NVIDIA-GB200"],
    "B300": ["NVIDIA-B300-SXM6-AC"],
    "B200": ["NVIDIA-B200"],
    "GH200": ["NVIDIA-GH200-480GB", "NVIDIA-GH200-144G-HBM3e"],
    "H200": ["NVIDIA-H200"],
    "H200-SXM": ["NVIDIA-H200"],
    "NVIDIA-H200-NVL": ["NVIDIA-H200-NVL"],
    "H100": ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"],
    "H100-SXM": ["NVIDIA-H100-80GB-HBM3"],
    "H100-NVLINK": ["NVIDIA-H100-80GB-HBM3"],
    "H100-MEGA": ["NVIDIA-H100-80GB-HBM3"],
    "H100-NVL": ["NVIDIA-H100-NVL"],
    "A800": ["NVIDIA-A800-SXM4-80GB", "NVIDIA-A800-80GB-PCIe"],
    "A100": ["NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"],
    "A100-80GB": ["NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe"],
    "A100-80GB-SXM": ["NVIDIA-A100-SXM4-80GB"],
    "A40": ["NVIDIA-A40"],
    "A30": ["NVIDIA-A30"],
    "A16": ["NVIDIA-A16"],
    "A10": ["NVIDIA-A10"],
    "A10G": ["NVIDIA-A10G"],
    "L4": ["NVIDIA-L4"],
    "L40": ["NVIDIA-L40"],
    "L40S": ["NVIDIA-L40S"],
    "T4": ["Tesla-T4"],
    "T4g": ["NVIDIA-T4G"],
    "V100": ["Tesla-V100-SXM2-16GB", "Tesla-V100-PCIE-16GB"],
    "V100-32GB": ["Tesla-V100-SXM2-32GB", "Tesla-V100-SXM3-32GB", "Tesla-V100-PCIE-32GB"],
    "P100": ["Tesla-P100-SXM2-16GB", "Tesla-P100-PCIE-16GB"],
    "P40": ["Tesla-P40"],
    "P4": ["Tesla-P4"],
    "K80": ["Tesla-K80"],
    "M60": ["Tesla-M60"],
    "A6000": ["NVIDIA-RTX-A6000"],
    "RTXA6000": ["NVIDIA-RTX-A6000"],
    "A5000": ["NVIDIA-RTX-A5000"],
    "RTXA5000": ["NVIDIA-RTX-A5000"],
    "A4000": ["NVIDIA-RTX-A4000"],
    "RTXA4000": ["NVIDIA-RTX-A4000"],
    "RTX6000-Ada": ["NVIDIA-RTX-6000-Ada-Generation"],
    "RTX4000-Ada": ["NVIDIA-RTX-4000-Ada-Generation"],
    "RTX3090": ["NVIDIA-GeForce-RTX-3090"],
    "RTX4090": ["NVIDIA-GeForce-RTX-4090"],
    "RTX5090": ["NVIDIA-GeForce-RTX-5090"],
    "RTXPRO6000": ["NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"],
}

# EC2 calls both sizes of a card by one name; Karpenter tells them apart by memory (MiB).
KARPENTER = {
    "A100": ("a100", 40960),
    "A100-80GB": ("a100", 81920),
    "V100": ("v100", 16384),
    "V100-32GB": ("v100", 32768),
}
COREWEAVE = {
    "H100": ["H100", "H100_NVLINK_80GB"],
    "A100-80GB": ["A100-80GB", "A100_NVLINK_80GB"],
}
# Chips of a single host -> its topology.
TPU_TOPOLOGY = {
    "tpu-v5-lite-podslice": {1: "1x1", 4: "2x2", 8: "2x4"},
    "tpu-v5-lite-device": {1: "1x1", 4: "2x2", 8: "2x4"},
    "tpu-v6e-slice": {1: "1x1", 4: "2x2", 8: "2x4"},
    "tpu-v5p-slice": {4: "2x2x1"},
}
# What AMD's node labeller makes of the driver's product names.
AMD = {
    "MI300X": ["AMD_Instinct_MI300X_OAM"],
    "MI325X": ["AMD_Instinct_MI325_OAM", "AMD_Instinct_MI325X_OAM"],
}
