// Package photo changes photographs at random, as the transforms of torchvision do.
//
// A [Cut] draws the rectangle that torchvision's RandomResizedCrop keeps, a [Scaler] brings it to another
// size as Pillow's bilinear resize does, and a [Jitter] changes brightness, contrast, saturation and hue as
// ColorJitter.
//
// Guarantees. What is drawn is a function of the stream alone, and pixels of what is drawn and of the source:
// the same on every processor. Scaled pixels are Pillow's to the byte. A Scaler allocates only while what it
// scales grows; it belongs to one goroutine.
//
// Errors. Validate returns one for the first setting out of range; wrong lengths panic.
package photo
