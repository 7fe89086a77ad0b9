python - <<'PY'
import torch
from torchvision.models import resnet50

model = resnet50().cuda().eval()
with torch.inference_mode():
    scores = model(torch.rand(64, 3, 224, 224, device="cuda"))
print(tuple(scores.shape), "on", torch.cuda.get_device_name())
PY
